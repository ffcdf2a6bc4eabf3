"""pytest plugin that reports the outcome of each test in plain values."""

import contextlib
import os
import random
import unittest
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ..protocol.framing import Channel
from . import failure_details
from .assertion_values import ComparisonRecorder
from .unexecuted_tests import check_return_value, is_async, is_plain_unittest

_SKIPS = (pytest.skip.Exception, unittest.SkipTest)
_STRICT_XPASS = "[XPASS(strict)]"
_STRICT_XPASS_MESSAGE = f"{_STRICT_XPASS} it passed, and is marked as strictly expected to fail"


class Reporter:
    """Plug-in that reports tests, outcomes and failures to the host.

    The job has the order of the tests and the files with doctests. Python files of the watched
    folders may not change before the tests run.
    """

    def __init__(self, channel: Channel, job: dict[str, Any]) -> None:
        self._channel, self._work = channel, job["work"] + os.sep
        self._order_seed, self._doctests = job["order_seed"], job["doctests"]
        self._watch((self._work,))
        self._outcomes: dict[str, tuple[str, float]] = {}
        self._left = Counter[str]()  # tests of a project may share one name
        self._current_id, self._phase = "", "collect"
        self._comparisons = ComparisonRecorder()
        self._skipped_files: dict[str, str] = {}
        self._skipping_files: dict[str, str] = {}
        self._unittest_ids: set[str] = set()
        self._rejected_ids: set[str] = set()

    def _watch(self, folders: Iterable[str]) -> None:
        self._folders = tuple(folders)
        self._changed_ns = read_change_times(self._folders)

    def _format_failure(self, excinfo: Any, style: object = None) -> str:
        """Return a text in place of pytest's, which parses files and is slower than most tests."""
        return failure_details.format_failure(excinfo.value, self._work)

    def pytest_itemcollected(self, item: Any) -> None:
        item._repr_failure_py = self._format_failure

    def pytest_collectstart(self, collector: Any) -> None:
        original = collector._repr_failure_py

        def format_failure(excinfo: Any, style: Any = None) -> Any:
            is_skip = isinstance(excinfo.value, _SKIPS)  # pytest reads the place from its text
            return original(excinfo, style) if is_skip else self._format_failure(excinfo)

        collector._repr_failure_py = format_failure
        self._current_id = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)

    def pytest_collection_modifyitems(self, session: Any, items: list[Any]) -> None:
        items.extend(self._collect_doctests(session))
        self._unittest_ids = {item.nodeid for item in items if is_plain_unittest(item)}
        if self._order_seed is not None:
            random.Random(self._order_seed).shuffle(items)

    def _collect_doctests(self, session: Any) -> Iterator[Any]:
        """Yield the doctests of the run's files; a file that cannot be loaded is an error.

        `--doctest-modules` is not used, because the module would have to be a target, which pytest
        searches for tests and whose assertions it rewrites.
        """
        from _pytest.doctest import DoctestModule

        for name in self._doctests:
            path = Path(self._work + name)
            yield from session.genitems(DoctestModule.from_parent(session, path=path))

    def pytest_collectreport(self, report: Any) -> None:
        if report.skipped and report.nodeid not in self._skipped_files:  # may repeat, for doctests
            place = report.longrepr[0] if isinstance(report.longrepr, tuple) else ""
            self._skipped_files[report.nodeid] = str(place).removeprefix(self._work)

    def pytest_collection_finish(self, session: Any) -> None:
        """Report the tests; a file that is skipped as a whole counts as one test."""
        self._report_rewritten_files()
        self._left.update(item.nodeid for item in session.items)
        self._channel.send(
            "collected", ids=[*(i.nodeid for i in session.items), *self._skipped_files]
        )
        for name, place in self._skipped_files.items():
            self._send_outcome(name, "skipped", 0.0, place)

    def _send_outcome(self, name: str, outcome: str, seconds: float, place: str) -> None:
        extra = {"skipped_by": place} if place else {}
        self._channel.send("test", id=name, outcome=outcome, duration_s=seconds, **extra)

    def _report_rewritten_files(self) -> None:
        """Report files that the code has changed while the tests were imported, as errors."""
        now = read_change_times(self._folders)
        for path in (path for path, at in self._changed_ns.items() if now.get(path) != at):
            name = path.removeprefix(self._work)
            error = pytest.Collector.CollectError(f"{name} was changed while tests were imported")
            self._send_failure(name, "collect", error, "")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._current_id, self._phase = nodeid, "call"
        self._channel.send("started", id=nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        if self._unittest_ids and item.nodeid in self._unittest_ids:
            self._check_item(item)

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> None:
        """Check a test; plugins that run async tests are called before this."""
        self._check_item(pyfuncitem)

    def _check_item(self, item: Any) -> None:
        reject = partial(self._reject_test, item.nodeid)
        if is_async(item.obj):
            reject(failure_details.ASYNC_ADVICE)
        item.obj = check_return_value(item.obj, reject)

    def _reject_test(self, name: str, why: str) -> None:
        """Fail a test, even if it is marked as expected to fail."""
        self._rejected_ids.add(name)
        error = pytest.fail.Exception(why, pytrace=False)
        self._send_failure(name, "call", error, "")
        raise error

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        raised = call.excinfo
        made = yield
        raised = raised or call.excinfo  # set late for unittest's cases
        if raised is not None:
            self._inspect_error(item, raised.value, made)

    def _inspect_error(self, item: Any, error: BaseException, made: Any) -> None:
        """Record the file that skipped a test; `made` is the result of the hook that reports it."""
        if isinstance(error, (*_SKIPS, pytest.xfail.Exception)):
            self._skipping_files[item.nodeid] = failure_details.find_skipping_file(
                error, self._work
            )

    def pytest_runtest_logfinish(self) -> None:
        """Restore access to the working folder, which pytest enters at the end."""
        with contextlib.suppress(OSError):
            os.chmod(self._work, 0o700)

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        self._comparisons.record(op, left, right, self._work)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if node.nodeid in self._rejected_ids and report.when == "call":
            return
        error = call.excinfo.value
        if report.when == "collect":  # pytest wraps the real error in one of its own
            error = error.__cause__ or error
        where = _describe_subtest(report)
        self._send_failure(
            node.nodeid, report.when or "collect", error, _get_captured_output(report), where
        )

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._report_abort(excinfo.value)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if type(excinfo.value).__name__ != "Interrupted":  # pytest's own, after collection errors
            self._report_abort(excinfo.value)

    def report_startup_error(self, name: str, error: BaseException) -> None:
        """Report that no test ran; `name` is the path of a file that cannot be loaded, or ''."""
        self._send_failure(name.removeprefix(self._work), "collect", error, "")

    def _report_abort(self, error: BaseException) -> None:
        """Report that the run ended early: `sys.exit()` at import, `pytest.exit()`, Ctrl-C."""
        self._send_failure(self._current_id, self._phase, error, "")

    def _send_failure(
        self, name: str, phase: str, error: BaseException, output: str, subtest: str = ""
    ) -> None:
        details = failure_details.describe_failure(error, output, self._work)
        details["message"] += subtest
        details["assertion"] = details["assertion"] or self._comparisons.values_for(error)
        self._channel.send("failure", id=name, phase=phase, **details)

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome, seconds = self._outcomes.get(report.nodeid, ("passed", 0.0))
        outcome = (
            "failed" if report.nodeid in self._rejected_ids else _combine_outcome(outcome, report)
        )
        self._outcomes[report.nodeid] = (outcome, seconds + report.duration)
        strict = report.failed and isinstance(report.longrepr, str)
        if strict and report.longrepr.startswith(_STRICT_XPASS):
            self._send_failure(
                report.nodeid, "call", pytest.fail.Exception(_STRICT_XPASS_MESSAGE), ""
            )
        self._left[report.nodeid] -= report.when == "teardown"
        if report.when == "teardown" and self._left[report.nodeid] <= 0:
            outcome, seconds = self._outcomes.pop(report.nodeid)
            place = self._skipping_files.pop(report.nodeid, "")
            self._send_outcome(report.nodeid, outcome, seconds, place)


def _combine_outcome(outcome: str, report: Any) -> str:
    """Return a test's outcome after another phase or subtest; only a failed subtest changes it."""
    if hasattr(report, "context") and not report.failed:
        return outcome
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return "skipped" if report.skipped else outcome


def _get_captured_output(report: Any) -> str:
    return "".join(text for name, text in getattr(report, "sections", ()) if "Captured" in name)


def _describe_subtest(report: Any) -> str:
    """Return a line of the message that names the failed subtest; '' if there is none."""
    context = getattr(report, "context", None)
    if context is None:
        return ""
    parts = [str(context.msg)] if context.msg is not None else []
    parts += [f"{name}={value}" for name, value in context.kwargs.items()]
    return f"\nin the subtest {', '.join(parts)}"[: failure_details.MAX_TEXT]


def read_change_times(folders: Iterable[str]) -> dict[str, int]:
    """Return each Python file's change time in ns, which no process can set back."""
    entries = (entry for folder in folders for entry in os.scandir(folder))
    return {
        entry.path: entry.stat().st_ctime_ns
        for entry in entries
        if entry.name.endswith(".py") and entry.is_file()
    }
