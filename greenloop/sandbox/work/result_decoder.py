"""From what the inside sent to a TestRun. Nothing of it is trusted: it may come from foreign code."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from greenloop.records import Ending, Expectation, Failure, Outcome, TestOutcome, TestRun
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.work.limit_detection import ended_by_itself, limits_hit
from greenloop.sandbox.work.stack_dump import frames

_IDS = TypeAdapter(tuple[str, ...])
_OUTCOMES = TypeAdapter(Outcome)
_DAY_S = 86400.0


class _Garbled(Exception):
    """The side channel holds something that our own code does not send."""


class _Heard:
    """The events of a run, put together."""

    def __init__(self) -> None:
        self.collected: tuple[str, ...] | None = None
        self.running: str | None = None
        self.tests: dict[str, TestOutcome] = {}
        self.failures: list[Failure] = []
        self.status: int | None = None
        self.own_equality: tuple[str, ...] = ()

    def hear(self, event: dict[str, Any]) -> None:
        kind = event.pop("event", None)
        if self.status is not None:
            raise _Garbled("something was sent after the end")
        if kind == "collected":
            self.collected = _IDS.validate_python(event["ids"])
            self.running = None
        elif kind == "started":
            self.running = str(event["id"])
        elif kind == "failure":
            self.failures.append(Failure(test=event.pop("id"), **event))
        elif kind == "test":
            self._test(event)
        elif kind == "own_equality":
            self.own_equality = _IDS.validate_python(event["ids"])
        elif kind == "end":
            self.status = int(event["exit_status"])
        else:
            raise _Garbled(f"unknown event {kind!r}")

    def _test(self, event: dict[str, Any]) -> None:
        if event["id"] in self.tests:
            raise _Garbled(f"{event['id']} was reported twice")
        outcome = _OUTCOMES.validate_python(event["outcome"])
        seconds = min(max(0.0, float(event["duration_s"])), _DAY_S)
        self.tests[event["id"]] = TestOutcome(id=event["id"], outcome=outcome, duration_s=seconds)
        self.running = None


def events(result: bytes, key: str) -> tuple[list[dict[str, Any]], bool]:
    """The JSON lines of a side channel up to the first that is none; whether that was all.

    Each must begin with the run's key, which foreign code does not get by merely writing.
    A last line that was cut off (its process was killed while it wrote) is left out silently.
    """
    found: list[dict[str, Any]] = []
    *lines, _ = result.split(b"\n")
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
    return found, result.endswith(b"\n") or not result


def test_run(
    ended: Ended,
    expected: Expectation | None,
    key: str,
    limits: Limits,
    files: Mapping[str, str],
) -> TestRun:
    """The run as it was reported, and only as far as it was reported in good form.

    `limits` are those that it had, `files` the texts of the run's own files by name.
    """
    heard, wrong = _heard(ended, key)
    ending: Ending = "garbled" if wrong else ended.ending
    if ending == "finished":
        ending = ended_by_itself(ended, heard.status is not None, heard.failures)
    if ending == "timeout":
        heard.failures.extend(_hung(heard, ended, limits, files))
    hit = limits_hit(ending, ended, heard.status is not None, heard.failures)
    words = [limits.exceeded(name) for name in hit]
    return TestRun(
        ending=ending,
        detail=wrong or _detail(ending, ended.status, heard.running, words),
        exit_status=_agreed(heard.status, ended.status),
        tests=tuple(heard.tests.values()),
        failures=tuple(heard.failures),
        missing=_missing(heard, expected),
        unexpected=_unexpected(heard, expected),
        limits_hit=hit,
        tolerated=expected.tolerated if expected else frozenset(),
        output=ended.output.decode("utf-8", "replace"),
        duration_s=ended.duration_s,
        own_equality=heard.own_equality,
    )


test_run.__test__ = False  # type: ignore[attr-defined]


def _heard(ended: Ended, key: str) -> tuple[_Heard, str]:
    """What the inside sent, and what was wrong with it ('' where nothing was)."""
    heard = _Heard()
    try:
        found, whole = events(ended.result, key)
        for event in found:
            heard.hear(event)
        if not whole and (heard.status is not None or ended.ending == "finished"):
            raise _Garbled("a line is no event")
    except (_Garbled, LookupError, TypeError, ArithmeticError, ValueError) as error:
        return heard, f"the result channel holds what pytest did not send: {error}"
    return heard, ""


def _hung(
    heard: _Heard, ended: Ended, limits: Limits, files: Mapping[str, str]
) -> Iterator[Failure]:
    """The test (or, while tests were collected, the file) that was running when time was up."""
    if heard.running is not None:
        yield Failure(
            test=heard.running,
            phase="collect" if heard.collected is None else "call",
            exception="Timeout",
            message=limits.exceeded("wall time"),
            frames=frames(ended.where, files),
        )


def _agreed(reported: int | None, real: int) -> int | None:
    """The exit status, if what was reported is what happened; else the worse of the two."""
    return real if reported is None or reported == real else max(abs(real), 1)


def _missing(heard: _Heard, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(heard.collected or ())
    return tuple(sorted(awaited - set(heard.tests)))


def _unexpected(heard: _Heard, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(heard.collected or ())
    return tuple(sorted(set(heard.tests) - awaited))


def _detail(ending: Ending, status: int, running: str | None, exceeded: list[str]) -> str:
    """How it ended, where, and each limit that it reached, in words."""
    where = f" during {running}" if running else ""
    if ending == "crashed":
        others = f"; reached a limit: {', '.join(exceeded)}" if exceeded else ""
        return f"{death(status)} before the tests were through{where}{others}"
    if ending == "finished":
        return f"reached a limit: {', '.join(exceeded)}" if exceeded else ""
    return (
        f"{exceeded[0]}{where}{''.join(f'; {item}' for item in exceeded[1:])}" if exceeded else ""
    )


def death(status: int) -> str:
    if status >= 0:
        return f"the process ended (exit status {status})"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
    hint = ", perhaps for lack of memory" if name in ("SIGKILL", "SIGSEGV") else ""
    return f"the process was killed ({name}{hint})"
