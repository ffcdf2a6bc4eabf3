"""Decoder of the result channel. Nothing in it is trusted: untrusted code may have written it."""

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from greenloop.records import Ending, Expectation, Failure, Frame, Outcome, TestOutcome, TestRun
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit

_IDS_ADAPTER = TypeAdapter(tuple[str, ...])
_OUTCOME_ADAPTER = TypeAdapter(Outcome)
_DAY_SECONDS = 86400.0
_EVENTS_OF_OTHERS = ("hits", "reached")  # read by `work.tests`
_FRAME_LINE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.M)
_WORK_FOLDER = "/work/"  # ends the path of each working folder
_FIRST_FRAMES, _LAST_FRAMES, _MAX_TEXT_CHARACTERS, _MAX_NAMED = 3, 12, 300, 5


class _ProtocolError(Exception):
    """The result channel contains data that the guest does not send."""


class _ReceivedEvents:
    """Combined events of a test run."""

    def __init__(self) -> None:
        self.collected: tuple[str, ...] | None = None
        self.running: str | None = None
        self.tests: dict[str, TestOutcome] = {}
        self.failures: list[Failure] = []
        self.refused: dict[str, str] = {}
        self.status: int | None = None

    def add(self, event: dict[str, Any]) -> None:
        kind = event.pop("event", None)
        if self.status is not None:
            raise _ProtocolError("something was sent after the end")
        if kind == "collected":
            self.collected = _IDS_ADAPTER.validate_python(event["ids"])
            self.running = None
        elif kind == "started":
            self.running = str(event["id"])
        elif kind == "failure":
            self.failures.append(Failure(test=event.pop("id"), **event))
        elif kind == "refused":
            self.refused[str(event["id"])] = str(event["what"])[:_MAX_TEXT_CHARACTERS]
        elif kind == "test":
            self._add_test(event)
        elif kind == "end":
            self.status = int(event["exit_status"])
        elif kind not in _EVENTS_OF_OTHERS:
            raise _ProtocolError(f"unknown event {kind!r}")

    def _add_test(self, event: dict[str, Any]) -> None:
        if event["id"] in self.tests:
            raise _ProtocolError(f"{event['id']} was reported twice")
        outcome = _OUTCOME_ADAPTER.validate_python(event["outcome"])
        seconds = min(max(0.0, float(event["duration_s"])), _DAY_SECONDS)
        place = str(event.get("skipped_by", ""))[:_MAX_TEXT_CHARACTERS]
        self.tests[event["id"]] = TestOutcome(
            id=event["id"], outcome=outcome, duration_s=seconds, skipped_by=place
        )
        self.running = None


def decode_events(channel_data: bytes, key: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the JSON lines up to the first invalid one, and whether all were valid.

    Each must begin with the key of the run, which untrusted code cannot guess. A truncated last
    line (its process was killed while writing) is left out.
    """
    found: list[dict[str, Any]] = []
    *lines, _ = channel_data.split(b"\n")
    for keyed in lines:
        sent, _, line = keyed.partition(b" ")
        if sent != key.encode():
            return found, False
        try:
            value = json.loads(line)
            if b"\\u" in line:  # a lone surrogate could not be written into a report
                json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return found, False
        if not isinstance(value, dict):
            return found, False
        found.append(value)
    return found, channel_data.endswith(b"\n") or not channel_data


def parse_index(value: Any, limit: int) -> int:
    """Return a number from 0 to `limit`. Raises ValueError: larger ones may share one hash."""
    if type(value) is not int or not 0 <= value <= limit:
        raise ValueError(f"no number from 0 to {limit}")
    return value


def decode_report(result: ProcessResult, key: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the events of a process, and whether its report is complete."""
    events, is_whole = decode_events(result.channel_data, key)
    has_ended = is_whole and bool(events) and events[-1].get("event") == "end"
    return events, has_ended and result.ending == "finished"


def build_test_run(
    result: ProcessResult,
    expected: Expectation | None,
    key: str,
    limits: ResourceLimits,
    files: Mapping[str, str],
) -> TestRun:
    """Build the record of a test run from the valid part of its report.

    `expected` are the tests that must report, `files` the sources of the run by name.
    """
    events, error = _collect_events(result, key)
    ending: Ending = "garbled" if error else result.ending
    if ending == "finished":
        ending = classify_ending(result, events.status is not None, events.failures)
    if ending == "timeout":
        events.failures.extend(_build_timeout_failures(events, result, limits, files))
    hit = detect_limits_hit(ending, result, events.status is not None, events.failures)
    exceeded = [limits.describe_exceeded(name) for name in hit]
    detail = _describe_ending(ending, result.status, events.running, exceeded)
    if ending == "crashed" and events.collected is None and result.last_line:
        detail = f"{detail}: {result.last_line}"
    awaited = expected.ids if expected else frozenset(events.collected or ())
    awaited = _name_rows(awaited, frozenset(events.tests))
    return TestRun(
        ending=ending,
        detail=error or detail or _describe_refused(events.refused),
        exit_status=_reconcile_status(events.status, result.status),
        tests=tuple(events.tests.values()),
        failures=tuple(events.failures),
        missing=tuple(sorted(awaited - set(events.tests))),
        unexpected=tuple(sorted(set(events.tests) - awaited)),
        limits_hit=hit,
        tolerated=expected.tolerated if expected else frozenset(),
        output=result.output.decode("utf-8", "replace"),
        duration_s=result.duration_s,
        cpu_s=result.cpu_s or result.duration_s,
    )


def _name_rows(awaited: frozenset[str], reported: frozenset[str]) -> frozenset[str]:
    """Return the awaited tests, by their reported names if only names of parametrized rows differ.

    A row may be named by the value of the module's constant, which differs in a stub.
    """
    counts = [Counter(item.partition("[")[0] for item in ids) for ids in (awaited, reported)]
    return reported if counts[0] == counts[1] else awaited


def _collect_events(result: ProcessResult, key: str) -> tuple[_ReceivedEvents, str]:
    """Return the events, and what is wrong with them ('' if nothing is)."""
    received = _ReceivedEvents()
    try:
        events, is_whole = decode_events(result.channel_data, key)
        for event in events:
            received.add(event)
        if not is_whole and (received.status is not None or result.ending == "finished"):
            raise _ProtocolError("a line is not an event")
    except (_ProtocolError, LookupError, TypeError, ArithmeticError, ValueError) as error:
        return received, f"the result channel holds what pytest did not send: {error}"
    return received, ""


def _build_timeout_failures(
    received: _ReceivedEvents,
    result: ProcessResult,
    limits: ResourceLimits,
    files: Mapping[str, str],
) -> Iterator[Failure]:
    """Yield a failure of the test (in the collection: the file) that ran at the timeout."""
    if received.running is not None:
        yield Failure(
            test=received.running,
            phase="collect" if received.collected is None else "call",
            exception="Timeout",
            message=limits.describe_exceeded("wall time"),
            frames=parse_frames(result.stack_dump, files),
        )


def _reconcile_status(reported: int | None, actual: int) -> int | None:
    """Return the actual exit status, or a failing one if the reported status differs."""
    return actual if reported is None or reported == actual else max(abs(actual), 1)


def _describe_ending(ending: Ending, status: int, running: str | None, exceeded: list[str]) -> str:
    """Describe how a run ended, during which test, and each limit that it reached."""
    where = f" during {running}" if running else ""
    if ending == "crashed":
        others = f"; reached a limit: {', '.join(exceeded)}" if exceeded else ""
        return f"{describe_exit(status)} before the tests had finished{where}{others}"
    if not exceeded:
        return ""
    if ending == "finished":
        return f"reached a limit: {', '.join(exceeded)}"
    return f"{exceeded[0]}{where}{''.join(f'; {item}' for item in exceeded[1:])}"


def _describe_refused(refused: Mapping[str, str]) -> str:
    """Describe the tests that were skipped because the sandbox refuses a socket; '' if none."""
    shown = ", ".join([*refused][:_MAX_NAMED]) + (", …" if len(refused) > _MAX_NAMED else "")
    return f"skipped, as {next(iter(refused.values()))}: {shown}" if refused else ""


def describe_exit(status: int) -> str:
    """Describe an exit status in words."""
    if status >= 0:
        return f"the process ended (exit status {status})"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
    hint = ", perhaps out of memory" if name in ("SIGKILL", "SIGSEGV") else ""
    return f"the process was killed ({name}{hint})"


def parse_frames(dump: str, files: Mapping[str, str]) -> tuple[Frame, ...]:
    """Return the frames (the ends of a deep stack) in the run's own files, outermost first."""
    found = tuple(_iter_own_frames(dump, files))[::-1]
    if len(found) <= _FIRST_FRAMES + _LAST_FRAMES:
        return found
    return found[:_FIRST_FRAMES] + found[-_LAST_FRAMES:]


def _iter_own_frames(dump: str, files: Mapping[str, str]) -> Iterator[Frame]:
    for path, number, function in _FRAME_LINE.findall(dump):
        if name := _relative_path(path, files):
            lines, line = files[name].split("\n"), int(number[:9])
            text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
            text = text.encode("utf-8", "backslashreplace").decode()[:_MAX_TEXT_CHARACTERS]
            yield Frame(file=name, line=line, function=function[:_MAX_TEXT_CHARACTERS], text=text)


def _relative_path(path: str, files: Mapping[str, str]) -> str:
    """Return the path of an own file within the working folder; '' for another file."""
    _, found, rest = f"/{path}".partition(_WORK_FOLDER)
    while found:
        if rest in files:
            return rest
        _, found, rest = f"/{rest}".partition(_WORK_FOLDER)
    return ""
