"""A pytest plugin that tells what happened to each test, in plain values."""

from __future__ import annotations

import contextlib
import os
import random
from functools import partial
from typing import Any, Protocol

import pytest

from .assertion_values import Compared
from .async_tests import is_async, is_plain_unittest
from .doctests import doctests
from .failure_details import ASYNC_ADVICE, TEXT, described
from .return_values import looked_at

_STRICT = "[XPASS(strict)]"
_PASSED = f"{_STRICT} it passed, and is marked as strictly expected to fail"


class Sender(Protocol):
    def send(self, event: str, **values: Any) -> None: ...


class Reporter:
    """`work` is the run's folder, with a separator at its end: what lies there is the run's own."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._outcome: dict[str, tuple[str, float]] = {}
        self._running, self._phase = "", "collect"
        self._compared = Compared()
        self._skipped: list[str] = []
        self._unittests: set[str] = set()
        self._refused: set[str] = set()

    def begin(self, channel: Sender, job: dict[str, Any]) -> None:
        """Where to report to; `job` says in which order (None: as collected), and of doctests."""
        self._channel = channel
        self._order_seed, self._doctests = job["order_seed"], job["doctests"]
        self._last, self._brief = frozenset(job.get("last", ())), bool(job.get("brief"))

    def pytest_collectstart(self, collector: Any) -> None:
        self._running = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)

    def pytest_itemcollected(self, item: Any) -> None:
        if self._brief:  # pytest makes it of each failure, shown or not
            item.repr_failure = _not_shown

    def pytest_collection_modifyitems(self, session: Any, items: list[Any]) -> None:
        items.extend(doctests(session, [self._work + name for name in self._doctests]))
        self._unittests = {item.nodeid for item in items if is_plain_unittest(item)}
        if self._order_seed is not None:
            random.Random(self._order_seed).shuffle(items)
            items.sort(key=lambda item: item.nodeid.partition("::")[0] in self._last)

    def pytest_collectreport(self, report: Any) -> None:
        if report.skipped:
            self._skipped.append(report.nodeid)

    def pytest_collection_finish(self, session: Any) -> None:
        """A file that is skipped as a whole counts as one test: it must not just be missing."""
        self._channel.send("collected", ids=[*(i.nodeid for i in session.items), *self._skipped])
        for name in self._skipped:
            self._channel.send("test", id=name, outcome="skipped", duration_s=0.0)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running, self._phase = nodeid, "call"
        self._channel.send("started", id=nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        if self._unittests and item.nodeid in self._unittests:
            self._look_at(item)

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> None:
        """Plugins that run async tests come first; what is still async here, nobody runs."""
        self._look_at(pyfuncitem)

    def _look_at(self, item: Any) -> None:
        refuse = partial(self._refuse, item.nodeid)
        if is_async(item.obj):
            refuse(ASYNC_ADVICE)
        item.obj = looked_at(item.obj, refuse)

    def _refuse(self, name: str, why: str) -> None:
        """Fails a test that nothing would fail, also one that is marked as expected to fail."""
        self._refused.add(name)
        error = pytest.fail.Exception(why, pytrace=False)
        self._failure(name, "call", error, "")
        raise error

    def pytest_runtest_logfinish(self) -> None:
        """pytest goes back to this folder at the end; the code may have taken its rights away."""
        with contextlib.suppress(OSError):
            os.chmod(self._work, 0o700)

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        self._compared.note(op, left, right, self._work)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if node.nodeid in self._refused and report.when == "call":
            return
        error = call.excinfo.value
        if report.when == "collect":  # pytest wraps the real error in one of its own
            error = error.__cause__ or error
        where = _subtest(report)
        self._failure(node.nodeid, report.when or "collect", error, _printed(report), where)

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._broken_off(excinfo.value)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if type(excinfo.value).__name__ != "Interrupted":  # pytest's own, after collection errors
            self._broken_off(excinfo.value)

    def broken_at_start(self, name: str, error: BaseException) -> None:
        """Nothing is run: `name` is the file that cannot be loaded, with its whole path, or ''."""
        self._failure(name.removeprefix(self._work), "collect", error, "")

    def _broken_off(self, error: BaseException) -> None:
        """The whole run ended early: `sys.exit()` at import, `pytest.exit()`, KeyboardInterrupt."""
        self._failure(self._running, self._phase, error, "")

    def _failure(
        self, name: str, phase: str, error: BaseException, output: str, where: str = ""
    ) -> None:
        told = described(error, output, self._work)
        told["message"] += where
        told["assertion"] = told["assertion"] or self._compared.of(error)
        self._channel.send("failure", id=name, phase=phase, **told)

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome, seconds = self._outcome.get(report.nodeid, ("passed", 0.0))
        outcome = "failed" if report.nodeid in self._refused else _worse(outcome, report)
        self._outcome[report.nodeid] = (outcome, seconds + report.duration)
        strict = report.failed and isinstance(report.longrepr, str)
        if strict and report.longrepr.startswith(_STRICT):
            self._failure(report.nodeid, "call", pytest.fail.Exception(_PASSED), "")
        if report.when == "teardown":
            outcome, seconds = self._outcome.pop(report.nodeid)
            self._channel.send("test", id=report.nodeid, outcome=outcome, duration_s=seconds)


def _not_shown(*_: Any, **__: Any) -> str:
    return "failed"


def _worse(outcome: str, report: Any) -> str:
    """The outcome of a test after one more of its phases."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return "skipped" if report.skipped else outcome


def _printed(report: Any) -> str:
    return "".join(text for name, text in getattr(report, "sections", ()) if "Captured" in name)


def _subtest(report: Any) -> str:
    """Which part of a test with subtests it was, as more lines of the message."""
    context = getattr(report, "context", None)
    if context is None:
        return ""
    parts = [str(context.msg)] if context.msg is not None else []
    parts += [f"{name}={value}" for name, value in context.kwargs.items()]
    return f"\nin the subtest {', '.join(parts)}"[:TEXT]
