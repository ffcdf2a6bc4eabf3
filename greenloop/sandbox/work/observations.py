"""Runs of programs that observe a module in a process without tests.

Observations remain text on the host.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenloop.sandbox.job import HASH_SEED, Job
from greenloop.sandbox.work.limit_detection import describe_incomplete
from greenloop.sandbox.work.result_decoder import decode_report, parse_index
from greenloop.testsuite import TestFile
from greenloop.testsuite.held_out_examples import find_fixtures

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox

_MAX_ROWS, _MAX_TEXT = 100_000, 300


@dataclass(frozen=True)
class ObservedRow:
    """Observations (number, payload) of one row of a program; the payloads are opaque texts."""

    program: int
    row: int
    observations: tuple[tuple[int, str], ...] = ()
    error: str | None = None  # the exception that ended the row
    has_ended: bool = False  # False if the process ended before the row did
    replaced: str = ""  # a built-in function that the code has replaced, '' for none
    looked: str = ""  # what the code has looked up about the machine or its callers, '' for nothing
    looked_earlier: bool = False  # before this row, and not in it
    cpu_s: float = 0.0  # of a row that ended, as reported by its process


@dataclass(frozen=True)
class Observations:
    """Rows that were begun; `error` says why not all of them ended ('' if all did)."""

    rows: tuple[ObservedRow, ...]
    error: str = ""


def observe(
    sandbox: "Sandbox",
    code: str,
    module: str,
    programs: str,
    *,
    beside: Sequence[TestFile] = (),
    timeout_s: float | None = None,
    hash_seed: int = HASH_SEED,
) -> Observations:
    """Run the programs of a text on the source of a module.

    With `beside` they run at the end of an ordinary run of these test files, in its process and
    with its hash seed, which is 0. Raises SandboxError if no process can be started.
    """
    files = ((f"{module}.py", code), *((item.name, item.code) for item in beside))
    payload: dict[str, Any] = {"module": module, "programs": programs}
    if beside:
        targets = [item.name for item in beside]
        payload |= {"targets": targets, "order_seed": None, "doctests": []}
    kind, seed = ("tests", 0) if beside else ("observation", hash_seed)
    job = Job(kind, files, payload, seed, sandbox.packages, timeout_s)
    return observe_job(sandbox, job)


def observe_job(sandbox: "Sandbox", job: Job) -> Observations:
    """Run a job with programs; return their observations. Raises SandboxError."""
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    limits = job.apply_limits(sandbox.limits)
    error = "" if is_complete else describe_incomplete(result, limits)
    rows: list[ObservedRow] = []
    try:
        rows.extend(_combine_rows(events))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        error = "the report of the programs is invalid"
    return Observations(tuple(rows), error)


def load(payload: str) -> dict[str, Any]:
    """Return an observation; {} if it is invalid, because untrusted code may have written it."""
    try:
        loaded = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _combine_rows(events: Sequence[dict[str, Any]]) -> Iterator[ObservedRow]:
    """Yield the rows of the events; ignore events of tests that ran in the same process."""
    current: dict[str, Any] | None = None
    seen: list[tuple[int, str]] = []
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            if current is not None:
                yield ObservedRow(**current, observations=tuple(seen))
            names = ("program", "row")
            current, seen = {name: parse_index(event[name], _MAX_ROWS) for name in names}, []
        elif kind == "observed" and current is not None:
            seen.append((parse_index(event["number"], _MAX_ROWS), str(event["payload"])))
        elif kind == "end_row" and current is not None:
            error = None if event["error"] is None else str(event["error"])[:_MAX_TEXT]
            seconds = float(event.get("cpu_s", 0.0))
            yield ObservedRow(
                **current,
                observations=tuple(seen),
                error=error,
                has_ended=True,
                replaced=str(event.get("replaced", ""))[:_MAX_TEXT],
                looked=str(event.get("looked", ""))[:_MAX_TEXT],
                looked_earlier=event.get("looked_earlier") is True,
                cpu_s=seconds,
            )
            current = None
    if current is not None:
        yield ObservedRow(**current, observations=tuple(seen))


@dataclass(frozen=True)
class CallResults:
    """Observation of each call, None if there is none; `error` says why ('' if all ended).

    An observation has the key `value` or `error`, as `guest.observation.encoder` writes them.
    """

    events: tuple[dict[str, Any] | None, ...]
    error: str = ""


def evaluate_calls(
    sandbox: "Sandbox",
    code: str,
    module: str,
    calls: Sequence[str],
    *,
    hash_seed: int = HASH_SEED,
) -> CallResults:
    """Evaluate expressions, or statements that end in one, over the names of a module.

    All run in one process and may use fixtures of pytest. Raises SandboxError if no process can be
    started.
    """
    programs = ", ".join(f"(answer, {find_fixtures(item)}, [({item!r},)])" for item in calls)
    text = f'answer = create_calls__("", ()).answer_steps\nprograms = [{programs}]\n'
    seen = sandbox.observe(code, module, text, hash_seed=hash_seed)
    found = {item.program: item.observations[0][1] for item in seen.rows if item.observations}
    events = (load(found.get(number, "")) or None for number in range(len(calls)))
    return CallResults(tuple(events), seen.error)
