"""From what the inside sent to a TestRun. Nothing of it is trusted: it may come from foreign code."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from greenloop.records import Ending, Expectation, Failure, Outcome, TestOutcome, TestRun
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.stack_dump import parse_frames

_IDS_ADAPTER = TypeAdapter(tuple[str, ...])
_OUTCOME_ADAPTER = TypeAdapter(Outcome)
_DAY_SECONDS = 86400.0


class _ProtocolError(Exception):
    """The side channel holds something that our own code does not send."""


class _ReceivedEvents:
    """The events of a run, put together."""

    def __init__(self) -> None:
        self.collected: tuple[str, ...] | None = None
        self.running: str | None = None
        self.tests: dict[str, TestOutcome] = {}
        self.failures: list[Failure] = []
        self.status: int | None = None
        self.own_equality: tuple[str, ...] = ()

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
        elif kind == "test":
            self._add_test(event)
        elif kind == "own_equality":
            self.own_equality = _IDS_ADAPTER.validate_python(event["ids"])
        elif kind == "end":
            self.status = int(event["exit_status"])
        else:
            raise _ProtocolError(f"unknown event {kind!r}")

    def _add_test(self, event: dict[str, Any]) -> None:
        if event["id"] in self.tests:
            raise _ProtocolError(f"{event['id']} was reported twice")
        outcome = _OUTCOME_ADAPTER.validate_python(event["outcome"])
        seconds = min(max(0.0, float(event["duration_s"])), _DAY_SECONDS)
        self.tests[event["id"]] = TestOutcome(id=event["id"], outcome=outcome, duration_s=seconds)
        self.running = None


def decode_events(channel_data: bytes, key: str) -> tuple[list[dict[str, Any]], bool]:
    """The JSON lines of a side channel up to the first that is none; whether that was all.

    Each must begin with the run's key, which foreign code does not get by merely writing.
    A last line that was cut off (its process was killed while it wrote) is left out silently.
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


def build_test_run(
    result: ProcessResult,
    expected: Expectation | None,
    key: str,
    limits: ResourceLimits,
    files: Mapping[str, str],
) -> TestRun:
    """The run as it was reported, and only as far as it was reported in good form.

    `limits` are those that it had, `files` the texts of the run's own files by name.
    """
    heard, wrong = _collect_events(result, key)
    ending: Ending = "garbled" if wrong else result.ending
    if ending == "finished":
        ending = classify_ending(result, heard.status is not None, heard.failures)
    if ending == "timeout":
        heard.failures.extend(_build_timeout_failures(heard, result, limits, files))
    hit = detect_limits_hit(ending, result, heard.status is not None, heard.failures)
    words = [limits.describe_exceeded(name) for name in hit]
    return TestRun(
        ending=ending,
        detail=wrong or _describe_ending(ending, result.status, heard.running, words),
        exit_status=_reconcile_status(heard.status, result.status),
        tests=tuple(heard.tests.values()),
        failures=tuple(heard.failures),
        missing=_find_missing(heard, expected),
        unexpected=_find_unexpected(heard, expected),
        limits_hit=hit,
        tolerated=expected.tolerated if expected else frozenset(),
        output=result.output.decode("utf-8", "replace"),
        duration_s=result.duration_s,
        own_equality=heard.own_equality,
    )


build_test_run.__test__ = False  # type: ignore[attr-defined]


def _collect_events(result: ProcessResult, key: str) -> tuple[_ReceivedEvents, str]:
    """What the inside sent, and what was wrong with it ('' where nothing was)."""
    heard = _ReceivedEvents()
    try:
        found, whole = decode_events(result.channel_data, key)
        for event in found:
            heard.add(event)
        if not whole and (heard.status is not None or result.ending == "finished"):
            raise _ProtocolError("a line is no event")
    except (_ProtocolError, LookupError, TypeError, ArithmeticError, ValueError) as error:
        return heard, f"the result channel holds what pytest did not send: {error}"
    return heard, ""


def _build_timeout_failures(
    received: _ReceivedEvents,
    result: ProcessResult,
    limits: ResourceLimits,
    files: Mapping[str, str],
) -> Iterator[Failure]:
    """The test (or, while tests were collected, the file) that was running when time was up."""
    if received.running is not None:
        yield Failure(
            test=received.running,
            phase="collect" if received.collected is None else "call",
            exception="Timeout",
            message=limits.describe_exceeded("wall time"),
            frames=parse_frames(result.stack_dump, files),
        )


def _reconcile_status(reported: int | None, actual: int) -> int | None:
    """The exit status, if what was reported is what happened; else the worse of the two."""
    return actual if reported is None or reported == actual else max(abs(actual), 1)


def _find_missing(received: _ReceivedEvents, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(received.collected or ())
    return tuple(sorted(awaited - set(received.tests)))


def _find_unexpected(received: _ReceivedEvents, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(received.collected or ())
    return tuple(sorted(set(received.tests) - awaited))


def _describe_ending(ending: Ending, status: int, running: str | None, exceeded: list[str]) -> str:
    """How it ended, where, and each limit that it reached, in words."""
    where = f" during {running}" if running else ""
    if ending == "crashed":
        others = f"; reached a limit: {', '.join(exceeded)}" if exceeded else ""
        return f"{describe_exit(status)} before the tests were through{where}{others}"
    if ending == "finished":
        return f"reached a limit: {', '.join(exceeded)}" if exceeded else ""
    return (
        f"{exceeded[0]}{where}{''.join(f'; {item}' for item in exceeded[1:])}" if exceeded else ""
    )


def describe_exit(status: int) -> str:
    if status >= 0:
        return f"the process ended (exit status {status})"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
    hint = ", perhaps for lack of memory" if name in ("SIGKILL", "SIGSEGV") else ""
    return f"the process was killed ({name}{hint})"
