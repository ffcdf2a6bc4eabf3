"""Runs pytest on the files of one run and reports each test over a pipe, one JSON line an event.

The exit status alone says nothing: the host counts only the lines, and only if the last one closes
them.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import traceback
from typing import Any

_MESSAGE, _OUTPUT, _TEXT = 4000, 2000, 300
_FIRST_FRAMES, _LAST_FRAMES = 3, 12


class Channel:
    """Writes events to the host, each behind the run's key: a bare write of others is told apart."""

    def __init__(self, handle: int, key: str) -> None:
        self._handle, self._key, self._process = handle, key, os.getpid()

    def send(self, event: str, **values: Any) -> None:
        if os.getpid() != self._process:  # a fork of the code under test that came back from it
            os._exit(1)
        data = f"{self._key} {json.dumps({'event': event, **values})}\n".encode()
        while data:
            data = data[os.write(self._handle, data) :]


class Reporter:
    """A pytest plugin: what happened to each test, in plain values."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._outcome: dict[str, tuple[str, float]] = {}
        self._running, self._phase = "", "collect"

    def begin(self, channel: Channel, order_seed: int | None) -> None:
        """Where to report to, and in which order to run (None: as collected)."""
        self._channel, self._order_seed = channel, order_seed

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._order_seed is not None:
            random.Random(self._order_seed).shuffle(items)

    def pytest_collection_finish(self, session: Any) -> None:
        self._channel.send("collected", ids=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running, self._phase = nodeid, "call"
        self._channel.send("started", id=nodeid)

    def pytest_runtest_logfinish(self) -> None:
        """pytest goes back to this folder at the end; the code may have taken its rights away."""
        with contextlib.suppress(OSError):
            os.chmod(self._work, 0o700)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        error = call.excinfo.value
        if report.when == "collect":  # pytest wraps the real error in one of its own
            error = error.__cause__ or error
        self._failure(node.nodeid, report.when or "collect", error, _printed(report))

    def pytest_collectstart(self, collector: Any) -> None:
        self._running = collector.nodeid

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._broken_off(excinfo.value)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if type(excinfo.value).__name__ != "Interrupted":  # pytest's own, after collection errors
            self._broken_off(excinfo.value)

    def _broken_off(self, error: BaseException) -> None:
        """The whole run ended early: `sys.exit()` at import, `pytest.exit()`, KeyboardInterrupt."""
        self._failure(self._running, self._phase, error, "")

    def _failure(self, name: str, phase: str, error: BaseException, output: str) -> None:
        self._channel.send(
            "failure",
            id=name,
            phase=phase,
            exception=_text(type(error).__name__)[:_TEXT],
            message=_shown(error)[:_MESSAGE],
            frames=_frames(error, self._work),
            output=_text(output)[-_OUTPUT:],
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome, seconds = self._outcome.get(report.nodeid, ("passed", 0.0))
        self._outcome[report.nodeid] = (_worse(outcome, report), seconds + report.duration)
        if report.when == "teardown":
            outcome, seconds = self._outcome.pop(report.nodeid)
            self._channel.send("test", id=report.nodeid, outcome=outcome, duration_s=seconds)


def _worse(outcome: str, report: Any) -> str:
    """The outcome of a test after one more of its phases."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return "skipped" if report.skipped else outcome


def _shown(error: BaseException) -> str:
    try:
        if type(error).__name__ == "FixtureLookupError":  # its text is for the terminal only
            return f"fixture {error.argname!r} not found"  # type: ignore[attr-defined]
        return _text(str(error))
    except BaseException as second:  # an error of the code under test may refuse to be shown
        return f"<its text cannot be made: {type(second).__name__}>"


def _text(value: str) -> str:
    """A plain `str` that every reader takes: lone surrogates are written out."""
    return str.encode(value, "utf-8", "backslashreplace").decode()


def _printed(report: Any) -> str:
    return "".join(text for name, text in getattr(report, "sections", ()) if "Captured" in name)


def _frames(error: BaseException, work: str) -> list[dict[str, Any]]:
    """Lines of the run's own files that the error went through, outermost first."""
    own = [
        item for item in traceback.extract_tb(error.__traceback__) if item.filename.startswith(work)
    ]
    if len(own) > _FIRST_FRAMES + _LAST_FRAMES:
        own = own[:_FIRST_FRAMES] + own[-_LAST_FRAMES:]
    found = [
        {
            "file": os.path.relpath(item.filename, work),
            "line": item.lineno or 0,
            "function": _text(item.name)[:_TEXT],
            "text": _text(item.line or "")[:_TEXT],
        }
        for item in own
    ]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(work):
        place = os.path.relpath(str(error.filename), work)
        text = _text(error.text or "").strip()[:_TEXT]
        found.append(
            {"file": place, "line": error.lineno or 0, "function": "<module>", "text": text}
        )
    return found


def options(work: str, ini: str) -> list[str]:
    """pytest's arguments but for the files: quiet, and with nothing of what lies around."""
    chosen = ["-q", "--no-header", "--tb=short", "-rN", "--color=no", "-p", "no:cacheprovider"]
    chosen += ["--capture=sys", "--continue-on-collection-errors"]
    places = ["-c", ini, "--rootdir", work, "--confcutdir", work]
    values = ["truncation_limit_lines=30", "truncation_limit_chars=3000"]
    return [*chosen, *places, *(part for value in values for part in ("-o", value))]


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's targets; returns pytest's exit status."""
    import pytest

    channel = Channel(handle, job.pop("key"))
    reporter = Reporter(job["work"] + os.sep)
    reporter.begin(channel, job["order_seed"])
    arguments = [*options(job["work"], job["ini"]), *job["targets"]]
    status = int(pytest.main(arguments, plugins=[reporter]))
    channel.send("end", exit_status=status)
    return status
