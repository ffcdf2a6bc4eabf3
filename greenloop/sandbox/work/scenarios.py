"""Scenarios: what the code of a module answers, and how its tests judge the answers.

The code runs in a process that has no tests, the tests in another that has no code. What is
observed stays text on the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.job import Job
from greenloop.sandbox.work.limit_detection import describe_incomplete
from greenloop.sandbox.work.result_decoder import decode_report, parse_index
from greenloop.testsuite import TestFile

RowVerdict = Literal["agrees", "differs", "not observable"]
_MAX_ROWS, _MAX_TEXT = 100_000, 300
_END_OF_TEXT = "end_text"


class ObservedRow(NamedTuple):
    """What was observed in one row of a scenario, by numbers; the payloads are opaque texts."""

    scenario: int
    row: int
    observations: tuple[tuple[int, str], ...] = ()
    error: str | None = None  # the exception that ended the row
    has_ended: bool = False  # False where the process ended before the row did
    replaced: str = ""  # what the code replaced in the standard library, '' for nothing
    looked: str = ""  # what it has looked up of the machine or its callers, '' for nothing
    cpu_s: float = 0.0  # of a row that ended, as its process tells it


class Observations(NamedTuple):
    """The rows that were begun; `error` says why not all of them ended ('' if all did).

    `framework` is what was replaced in the test framework beside which they ran, '' for nothing.
    """

    rows: tuple[ObservedRow, ...]
    error: str = ""
    framework: str = ""


@dataclass(frozen=True)
class RowOutcome:
    """How a row was judged, with the line of the test file that decided (0 for none).

    `has_objects`: it was judged by values that may have operators of their own.
    """

    scenario: int
    row: int
    outcome: RowVerdict
    line: int = 0
    reason: str = ""
    has_objects: bool = False


_OUTCOME_ADAPTER = TypeAdapter(RowOutcome)


def observe_scenarios(
    sandbox: JobRunner,
    code: str,
    module: str,
    scenario: str,
    *,
    beside: Sequence[TestFile] = (),
    timeout_s: float | None = None,
    hash_seed: int = HASH_SEED,
) -> Observations:
    """Run the scenarios of a text on the source of a module.

    With `beside` they run at the end of an ordinary run of these test files, in its process and
    with its hash seed, which is 0. Raises SandboxError where no process can be started.
    """
    texts = [(scenario, "")]
    (found,) = observe_together(
        sandbox, code, module, texts, beside=beside, timeout_s=timeout_s, hash_seed=hash_seed
    )
    return found


def observe_together(
    sandbox: JobRunner,
    code: str,
    module: str,
    scenarios: Sequence[tuple[str, str]],
    *,
    beside: Sequence[TestFile] = (),
    timeout_s: float | None = None,
    hash_seed: int = HASH_SEED,
) -> list[Observations]:
    """Do the same for several texts, one after the other in one process.

    Each has another source of the module, in place of `code` from there on, or ''.
    """
    files = ((f"{module}.py", code), *((item.name, item.code) for item in beside))
    payload: dict[str, Any] = {"module": module, "scenarios": scenarios}
    if beside:
        targets = [item.name for item in beside]
        payload |= {"targets": targets, "order_seed": None, "doctests": []}
    kind, seed = ("tests", 0) if beside else ("scenarios", hash_seed)
    job = Job(kind, files, payload, seed, sandbox.packages, timeout_s)
    return observe_job(sandbox, job)


def observe_job(sandbox: JobRunner, job: Job) -> list[Observations]:
    """Run a job that has scenarios; return what was observed of each of its texts.

    Raises:
        SandboxError: no process can be started.
    """
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    limits = job.apply_limits(sandbox.limits)
    error = "" if is_complete else describe_incomplete(result, limits, "scenarios")
    texts = _split_by_text(events, len(job.payload["scenarios"]))
    return [_read_observations(part, "" if ended else error) for part, ended in texts]


def _split_by_text(
    events: Sequence[dict[str, Any]], count: int
) -> list[tuple[list[dict[str, Any]], bool]]:
    """Return the events of each text, and whether it came to its end."""
    found: list[list[dict[str, Any]]] = [[] for _ in range(count + 1)]
    ended = 0
    for event in events:
        if event.get("event") == _END_OF_TEXT:
            ended = min(ended + 1, count)
        else:
            found[ended].append(event)
    return [(part, number < ended) for number, part in enumerate(found[:count])]


def _read_observations(events: Sequence[dict[str, Any]], error: str) -> Observations:
    rows: list[ObservedRow] = []
    try:
        rows.extend(_combine_rows(events))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        error = "the report of the scenarios is invalid"
    found = (str(item.get("replaced")) for item in events if item.get("event") == "framework")
    return Observations(tuple(rows), error, next(found, "")[:_MAX_TEXT])


def _combine_rows(events: Sequence[dict[str, Any]]) -> Iterator[ObservedRow]:
    """Yield the rows that the events tell of; other events are those of tests beside."""
    current: dict[str, Any] | None = None
    seen: list[tuple[int, str]] = []
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            if current is not None:
                yield ObservedRow(**current, observations=tuple(seen))
            names = ("scenario", "row")
            current, seen = {name: parse_index(event[name], _MAX_ROWS) for name in names}, []
        elif kind == "observed" and current is not None:
            seen.append((parse_index(event["number"], _MAX_ROWS), str(event["payload"])))
        elif kind == "end_row" and current is not None:
            error = None if event["error"] is None else str(event["error"])[:_MAX_TEXT]
            replaced, looked = (str(event.get(k, ""))[:_MAX_TEXT] for k in ("replaced", "looked"))
            yield ObservedRow(
                **current,
                observations=tuple(seen),
                error=error,
                has_ended=True,
                replaced=replaced,
                looked=looked,
                cpu_s=float(event.get("cpu_s", 0.0)),
            )
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

    Rows that it does not come to are not observable, nor are those in which the code had replaced
    a part of the standard library, a scenario of which nothing was observed may then be missing.
    Raises SandboxError where no process can be started.
    """
    return judge_together(sandbox, [(judge, observations)], tests, timeout_s=timeout_s)[0]


def judge_together(
    sandbox: JobRunner,
    judges: Sequence[tuple[str, Observations]],
    tests: Sequence[TestFile] = (),
    *,
    timeout_s: float | None = None,
) -> list[tuple[RowOutcome, ...]]:
    """Do the same for the rows of several texts, one after the other in one process."""
    files = tuple((item.name, item.code) for item in tests)
    payload = {"judges": [(judge, _encode_rows(seen)) for judge, seen in judges]}
    job = Job("judge", files, payload, packages=sandbox.packages, timeout_s=timeout_s)
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    reason = describe_incomplete(result, job.apply_limits(sandbox.limits), "judgement")
    return [
        _combine_outcomes(part, observations, "" if is_complete or ended else reason)
        for (part, ended), (_, observations) in zip(
            _split_by_text(events, len(judges)), judges, strict=True
        )
    ]


def _encode_rows(seen: Observations) -> list[list[Any]]:
    return [[i.scenario, i.row, i.observations, i.error, i.has_ended] for i in seen.rows]


def _combine_outcomes(
    events: Sequence[dict[str, Any]], observations: Observations, incomplete: str
) -> tuple[RowOutcome, ...]:
    """Return the outcomes of the rows; `incomplete` says why some were not judged, '' if all were."""
    judged = {(item.scenario, item.row): item for item in _read_outcomes(events)}
    for item in observations.rows if incomplete else ():
        key = item.scenario, item.row
        judged.setdefault(key, RowOutcome(*key, "not observable", reason=incomplete))
    for item in observations.rows:
        if item.replaced:
            key, reason = (item.scenario, item.row), f"the code replaces {item.replaced}"
            judged[key] = RowOutcome(*key, "not observable", reason=reason)
    return tuple(judged.values())


def _read_outcomes(events: Sequence[dict[str, Any]]) -> Iterator[RowOutcome]:
    for event in events:
        if event.pop("event", "") == "judged":
            event["reason"] = str(event.get("reason"))[:_MAX_TEXT]
            try:
                for name in ("scenario", "row"):
                    parse_index(event.get(name), _MAX_ROWS)
                yield _OUTCOME_ADAPTER.validate_python(event)
            except ValueError:  # of the code of the tests, which runs there too
                return
