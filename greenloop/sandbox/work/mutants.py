"""Mutants of a module, run in a sandbox.

The outcome of a mutant comes from a process that ran untrusted code. It is a claim; what it is
worth is said in `greenloop.grading.mutation.evidence`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, get_args

from greenloop.records import TestRun
from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.guest.protocol.reasons import LIVE_THREADS
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.mutant_runs import (
    ModuleEdit,
    MutantOutcome,
    MutantRun,
    MutantRuns,
    run_mutants_separately,
)
from greenloop.sandbox.work.result_decoder import decode_report
from greenloop.testsuite import TestFile

MARGIN_SECONDS = 20.0  # for the start, and for ending what is still running
_MAX_RUNS, _MAX_SINGLE_RUNS = 4, 8
_MIN_SECONDS = 0.5

_OUTCOMES: tuple[MutantOutcome, ...] = get_args(MutantOutcome)

# Takes numbers of mutants, seconds, and whether mutants may share a process; returns also the key.
MutantRunner = Callable[[Sequence[int], float, bool], tuple[ProcessResult, str]]


def run_mutants(
    sandbox: JobRunner,
    code: str,
    tests: Sequence[TestFile],
    edits: Sequence[ModuleEdit],
    *,
    module: str,
    budget_s: float,
) -> MutantRuns:
    """Run each edit of a module against the tests that execute it, for at most `budget_s` seconds.

    The edits are tried in forks of a process that has collected the tests; where it cannot be
    forked, each has a test run of its own.

    Raises:
        SandboxError: no process can be started.
    """
    started = time.monotonic()
    files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
    payload = {"module": module, "targets": [item.name for item in tests]}

    def fork(numbers: Sequence[int], left_s: float, is_shared: bool) -> tuple[ProcessResult, str]:
        splices = [{"number": number, **asdict(edits[number])} for number in numbers]
        more = {"budget_s": left_s, "splices": splices, "together": is_shared}
        limit_s = left_s + MARGIN_SECONDS
        job = Job(
            "mutants",
            files,
            payload | more,
            packages=sandbox.packages,
            timeout_s=limit_s,
            items=len(numbers),
        )
        return sandbox.run(job), job.key

    def run(mutant: str, timeout_s: float | None) -> TestRun:
        return sandbox.run_tests(mutant, tests, module=module, timeout_s=timeout_s)

    if sandbox.can_fork:
        found = run_all_mutants(edits, fork, budget_s)
        if found.error != LIVE_THREADS:
            return found
    return run_mutants_separately(run, code, edits, budget_s - (time.monotonic() - started))


def run_all_mutants(edits: Sequence[ModuleEdit], run: MutantRunner, budget_s: float) -> MutantRuns:
    """Run until each mutant has an outcome, or the time is over.

    A mutant may end the whole run (`kill(-1)`, all the memory). From then on each has a process of
    its own. Those in progress when that run breaks off are run alone after the others: a run that
    breaks off with a single mutant was broken by it.
    """
    started = time.monotonic()
    state = _MutantProgress(len(edits), started + budget_s)
    for _ in range(_MAX_RUNS):
        state.run_batch(run, state.pending())
        if not state.is_broken or state.is_aborted:
            break
    if not state.is_aborted:
        for number in sorted(state.suspects)[:_MAX_SINGLE_RUNS]:
            state.run_single(run, number)
    runs = tuple(state.outcome(number) for number in range(len(edits)))
    return MutantRuns(runs, state.error, time.monotonic() - started, state.cpu_s)


class _MutantProgress:
    """The outcomes so far, and the mutants that may have broken a run."""

    def __init__(self, count: int, deadline: float) -> None:
        self._count, self._deadline = count, deadline
        self._known: dict[int, MutantRun] = {}
        self.suspects: set[int] = set()
        self.error, self.cpu_s = "", 0.0
        self.is_broken = self.is_aborted = False
        self._is_shared = True

    def pending(self) -> list[int]:
        return [n for n in range(self._count) if n not in self._known and n not in self.suspects]

    def outcome(self, number: int) -> MutantRun:
        return self._known.get(number, MutantRun("not_run"))

    def run_batch(self, run: MutantRunner, numbers: Sequence[int]) -> None:
        """Run some mutants and record their outcomes, or that the run ended early."""
        left_s = self._deadline - time.monotonic()
        self.is_broken = False
        if not numbers or left_s < _MIN_SECONDS:
            return
        result, key = run(numbers, left_s, self._is_shared)
        events, is_complete = decode_report(result, key)
        begun = self._read_events(events, set(numbers))
        self.is_broken = not is_complete
        if self.is_broken:
            if self._is_shared:
                self._is_shared = False
            else:
                self.suspects |= begun
            self.is_aborted = not begun or result.ending in ("interrupted", "timeout")
            self.error = _describe_error(result, events)
        elif any(item.get("event") == "trouble" for item in events):
            self.is_aborted, self.error = True, _describe_error(result, events)
        else:
            self.error = ""
            self.cpu_s += _parse_seconds(events[-1].get("cpu_s"))

    def run_single(self, run: MutantRunner, number: int) -> None:
        """Run one mutant alone; a run that breaks off is its own crash."""
        self.run_batch(run, [number])
        if self.is_broken and not self.is_aborted:
            self._known[number] = MutantRun("crashed")
            self.error = ""

    def _read_events(self, events: Sequence[dict[str, Any]], requested: set[int]) -> set[int]:
        """Record outcomes; return the mutants that were begun and have none."""
        begun: set[int] = set()
        for event in events:
            number, started = event.get("mutant"), event.get("mutants")
            if event.get("event") == "started" and isinstance(started, list):
                begun.update(item for item in started if type(item) is int)
            elif event.get("event") == "mutant" and type(number) is int and number in requested:
                self._known.setdefault(number, _parse_run(event))
        return (begun & requested) - self._known.keys()


def _parse_run(event: dict[str, Any]) -> MutantRun:
    """Parse an outcome; an unknown one, which untrusted code may send, becomes `error`."""
    outcome: MutantOutcome = next(
        (item for item in _OUTCOMES if item == event.get("outcome")), "error"
    )
    test = event.get("test", "")
    return MutantRun(outcome, test[:500] if isinstance(test, str) else "")


def _parse_seconds(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e6 else 0.0


def _describe_error(result: ProcessResult, events: Sequence[dict[str, Any]]) -> str:
    errors = [item.get("what") for item in events if item.get("event") == "trouble"]
    if errors:
        return str(errors[-1])[:300]
    output = f": {result.last_line}" if result.last_line else ""
    return f"the run of the mutants broke off ({result.ending}, status {result.status}){output}"
