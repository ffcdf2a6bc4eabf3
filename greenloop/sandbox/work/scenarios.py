"""Scenarios: what the code of a module answers, and how its tests judge the answers.

The code runs in a process that has no tests, the tests in another that has no code. What is observed
stays text on the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from pydantic import TypeAdapter

from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.result_decoder import decode_report
from greenloop.testsuite import TestFile

RowVerdict = Literal["agrees", "differs", "not observable"]
_VERDICT_ADAPTER: TypeAdapter[RowVerdict] = TypeAdapter(RowVerdict)
_MAX_ROWS, _MAX_TEXT = 100_000, 300


@dataclass(frozen=True)
class ObservedRow:
    """What was observed in one row of a scenario, by numbers; the payloads are opaque texts.

    `error` is the exception that ended the row, None for none; `has_ended` is False where the
    process ended before the row did.
    """

    scenario: int
    row: int
    observations: tuple[tuple[int, str], ...] = ()
    error: str | None = None
    has_ended: bool = False


@dataclass(frozen=True)
class Observations:
    """The rows that were begun; `error` says why not all of them ended ('' if all did)."""

    rows: tuple[ObservedRow, ...]
    error: str = ""


@dataclass(frozen=True)
class RowOutcome:
    """How a row was judged, with the line of the test file that decided (0 for none)."""

    scenario: int
    row: int
    outcome: RowVerdict
    line: int = 0
    reason: str = ""


def observe_scenarios(
    sandbox: JobRunner,
    code: str,
    module: str,
    scenario: str,
    *,
    beside: Sequence[TestFile] = (),
    timeout_s: float | None = None,
) -> Observations:
    """Run scenarios on the source of a module.

    With `beside` they run at the end of an ordinary run of these test files, in its process.
    Raises SandboxError where no process can be started.
    """
    files = ((f"{module}.py", code), *((item.name, item.code) for item in beside))
    payload: dict[str, Any] = {"module": module, "scenario": scenario}
    if beside:
        targets = [item.name for item in beside]
        payload |= {"targets": targets, "order_seed": None, "doctests": []}
    kind = "tests" if beside else "scenarios"
    job = Job(kind, files, payload, packages=sandbox.packages, timeout_s=timeout_s)
    return observe_job(sandbox, job)


def observe_job(sandbox: JobRunner, job: Job) -> Observations:
    """Run a job that has scenarios. Raises SandboxError where no process can be started."""
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    error = (
        ""
        if is_complete
        else describe_incomplete(result, job.apply_limits(sandbox.limits), "scenarios")
    )
    rows: list[ObservedRow] = []
    try:
        rows.extend(_combine_rows(events))
    except (LookupError, TypeError, ValueError):
        error = "the report of the scenarios is invalid"
    return Observations(tuple(rows), error)


def _combine_rows(events: Sequence[dict[str, Any]]) -> Iterator[ObservedRow]:
    """Yield the rows that the events tell of; other events are those of tests beside."""
    current: dict[str, Any] | None = None
    seen: list[tuple[int, str]] = []
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            if current is not None:
                yield ObservedRow(**current, observations=tuple(seen))
            current, seen = {name: int(event[name]) for name in ("scenario", "row")}, []
        elif kind == "observed" and current is not None:
            seen.append((int(event["number"]), str(event["payload"])))
        elif kind == "end_row" and current is not None:
            error = None if event["error"] is None else str(event["error"])[:_MAX_TEXT]
            yield ObservedRow(**current, observations=tuple(seen), error=error, has_ended=True)
            current = None
    if current is not None:
        yield ObservedRow(**current, observations=tuple(seen))


def judge_scenarios(
    sandbox: JobRunner,
    judge: str,
    observations: Observations,
    tests: Sequence[TestFile] = (),
    *,
    timeout_s: float | None = None,
) -> tuple[RowOutcome, ...]:
    """Judge observed rows in a process that has the tests' text and files, and no code.

    Rows that it does not come to are not observable. Raises SandboxError where no process can be
    started.
    """
    rows = [
        [item.scenario, item.row, item.observations, item.error, item.has_ended]
        for item in observations.rows
    ]
    files = tuple((item.name, item.code) for item in tests)
    payload = {"judge": judge, "rows": rows}
    job = Job("judge", files, payload, packages=sandbox.packages, timeout_s=timeout_s)
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    judged = [_read_outcome(item) for item in events if item.get("event") == "judged"]
    if is_complete:
        return tuple(judged)
    reason = describe_incomplete(result, job.apply_limits(sandbox.limits), "judgement")
    return (*judged, *_complete(judged, events, observations, reason))


def _read_outcome(event: dict[str, Any]) -> RowOutcome:
    outcome: RowVerdict = _VERDICT_ADAPTER.validate_python(event["outcome"])
    key = int(event["scenario"]), int(event["row"])
    return RowOutcome(*key, outcome, int(event["line"]), str(event["reason"])[:_MAX_TEXT])


def _complete(
    judged: Sequence[RowOutcome],
    events: Sequence[dict[str, Any]],
    observations: Observations,
    reason: str,
) -> Iterator[RowOutcome]:
    """Yield the rows that were not judged, as far as they are known."""
    counts: list[int] = next((item["counts"] for item in events if item["event"] == "rows"), [])
    known = ((at, row) for at, count in enumerate(counts) for row in range(min(count, _MAX_ROWS)))
    observed = ((item.scenario, item.row) for item in observations.rows)
    seen = {(item.scenario, item.row) for item in judged}
    for key in dict.fromkeys(chain(known, observed)):
        if key not in seen:
            yield RowOutcome(*key, "not observable", reason=reason)


def describe_incomplete(result: ProcessResult, limits: ResourceLimits, what: str) -> str:
    """Describe why the report of a process ends before its end."""
    ending = classify_ending(result, False, ()) if result.ending == "finished" else result.ending
    exceeded = map(limits.describe_exceeded, detect_limits_hit(ending, result, False, ()))
    how = ", ".join([ending, f"status {result.status}", *exceeded])
    last = f": {result.last_line}" if result.last_line else ""
    return f"the {what} were not completed ({how}){last}"
