"""From what the inside sent to a TestRun. Nothing of it is trusted: it may come from foreign code."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

from pydantic import TypeAdapter

from greenloop.records import Ending, Expectation, Failure, Outcome, TestOutcome, TestRun
from greenloop.sandbox.bounded import Ended

_IDS = TypeAdapter(tuple[str, ...])
_OUTCOMES = TypeAdapter(Outcome)
_DAY_S = 86400.0
_LAST_BYTES = 4000
_OUT_OF_MEMORY = re.compile(rb"\bMemoryError\b|Cannot allocate memory|out of memory", re.I)
# Limits by the name that the supervisor knows them by, in words, and what Python says of them.
_LIMITS = (
    ("processes", "processes and threads", "can't start new thread"),  # or no room for its stack
    ("processes", "processes and threads", "[Errno 11] Resource temporarily unavailable"),
    ("memory", "memory", "MemoryError"),
    ("disk", "disk space", "[Errno 28] No space left"),
    ("file", "the size of a file", "[Errno 27] File too large"),
    ("files", "open files", "[Errno 24] Too many open files"),
)


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


def test_run(ended: Ended, expected: Expectation | None, key: str) -> TestRun:
    """The run as it was reported, and only as far as it was reported in good form."""
    heard = _Heard()
    ending: Ending = ended.ending
    detail = ""
    try:
        found, whole = events(ended.result, key)
        for event in found:
            heard.hear(event)
        if not whole and (heard.status is not None or ending == "finished"):
            raise _Garbled("a line is no event")
    except (_Garbled, LookupError, TypeError, ArithmeticError, ValueError) as error:
        ending, detail = "garbled", f"the result channel holds what pytest did not send: {error}"
    if ending == "finished":
        ending = _finished(ended, heard)
    return TestRun(
        ending=ending,
        detail=detail or _detail(ending, ended, heard),
        exit_status=_agreed(heard.status, ended.status),
        tests=tuple(heard.tests.values()),
        failures=tuple(heard.failures),
        missing=_missing(heard, expected),
        unexpected=_unexpected(heard, expected),
        tolerated=expected.tolerated if expected else frozenset(),
        output=ended.output.decode("utf-8", "replace"),
        duration_s=ended.duration_s,
        own_equality=heard.own_equality,
    )


test_run.__test__ = False  # type: ignore[attr-defined]


def _finished(ended: Ended, heard: _Heard) -> Ending:
    """How a run was that came to its end by itself, or by the kernel's hand."""
    if heard.status is None:
        out = "memory" in ended.hit or _OUT_OF_MEMORY.search(ended.output[-_LAST_BYTES:])
        return "memory" if out else "crashed"
    broken_off = heard.status not in (0, 1)
    if broken_off and any(item.exception == "MemoryError" for item in heard.failures):
        return "memory"
    return "finished"


def _agreed(reported: int | None, real: int) -> int | None:
    """The exit status, if what was reported is what happened; else the worse of the two."""
    return real if reported is None or reported == real else max(abs(real), 1)


def _missing(heard: _Heard, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(heard.collected or ())
    return tuple(sorted(awaited - set(heard.tests)))


def _unexpected(heard: _Heard, expected: Expectation | None) -> tuple[str, ...]:
    awaited = expected.ids if expected else frozenset(heard.collected or ())
    return tuple(sorted(set(heard.tests) - awaited))


def _detail(ending: Ending, ended: Ended, heard: _Heard) -> str:
    where = f" during {heard.running}" if heard.running else ""
    if ending == "timeout":
        return f"still running after {ended.duration_s:.0f} s{where}"
    if ending == "output":
        return f"more output than allowed{where}"
    if ending == "memory":
        return f"more memory than allowed{where}"
    if ending == "crashed":
        return (
            f"{_death(ended.status)} before the tests were through{where}{_reached(ended, heard)}"
        )
    return _reached(ended, heard).removeprefix("; ") if ending == "finished" else ""


def _reached(ended: Ended, heard: _Heard) -> str:
    """Limits that the run came up against, in words; what it says itself may be made up."""
    told = "\n".join(f"{item.exception}: {item.message}" for item in heard.failures)
    told += ended.output[-_LAST_BYTES:].decode("utf-8", "replace") if heard.status is None else ""
    reached = [words for name, words, sign in _LIMITS if name in ended.hit or sign in told]
    return f"; reached the limit of {' and of '.join(dict.fromkeys(reached))}" if reached else ""


def _death(status: int) -> str:
    if status >= 0:
        return f"the process ended (exit status {status})"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
    hint = ", perhaps for lack of memory" if name in ("SIGKILL", "SIGSEGV") else ""
    hint = ", out of CPU time" if name == "SIGXCPU" else hint
    return f"the process was killed ({name}{hint})"
