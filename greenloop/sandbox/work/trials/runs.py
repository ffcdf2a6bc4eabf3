"""Outcomes of mutants, and trials of mutants in separate test runs."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from greenloop.records import TestRun
from greenloop.syntax.source import TextEdit

_MAX_THREADS = 4
_MIN_RUN_SECONDS, _RUN_FACTOR = 2.0, 10  # of a test run, by its time on the original code

MutantOutcome = Literal[
    "killed", "survived", "uncovered", "timeout", "crashed", "error", "not_run", "loaded"
]
BaselineOutcome = Literal["passed", "failed", "skipped", "timeout"]


@dataclass(frozen=True)
class ModuleEdit(TextEdit):
    """Edit of a module, with the part to compile and the lines to test.

    `unit` is the part of the module that is compiled for the edit: its first and last character,
    its first line, and the name of its class ('' for none). `lines` are the first and the last line
    of the statement that changes; tests that execute none of them are not run.
    """

    unit: tuple[int, int, int, str]
    lines: tuple[int, int]


@dataclass(frozen=True)
class BaselineResult:
    """Result of one test on the unchanged code: node id, outcome, cost and executed lines."""

    test: str
    outcome: BaselineOutcome
    cpu_s: float
    wall_s: float
    lines: frozenset[int]
    peak_bytes: int = 0  # the address space of its process
    starts_processes: bool = False  # what runs there is not among the lines


@dataclass(frozen=True)
class MutantRun:
    """Outcome of one mutant, and the test that decided it ('' for none).

    `killed`: a test failed. `crashed`: the process ended during a test. `timeout`: a test took far
    longer than on the original. `uncovered`: no test executes the mutant, so none was run. `error`:
    it could not be tried, `loaded`: nor in a fork. `not_run`: the time was over.
    """

    outcome: MutantOutcome
    test: str = ""


@dataclass(frozen=True)
class MutantRuns:
    """One run per edit, in the order of the edits."""

    runs: tuple[MutantRun, ...]
    error: str = ""  # why not all were tried ('' if all were)
    seconds: float = 0.0  # wall-clock time
    cpu_s: float = 0.0  # CPU time of all processes


TestRunner = Callable[..., TestRun]


def run_mutants_separately(
    run: TestRunner, code: str, edits: Sequence[ModuleEdit], budget_s: float
) -> MutantRuns:
    """Run the tests on the code, then on each edit of it, in at most `budget_s` CPU seconds a core.

    `run` takes the source of a module and the options of `run_tests`. If no test fails on the code,
    a run on an edit ends with the first test that fails.
    """
    first = run(code)
    passing = [test.id for test in first.tests if test.outcome == "passed"]
    if first.ending != "finished" or not passing:
        why = f"the tests do not pass twice on the code ({first.ending})"
        return MutantRuns((MutantRun("not_run"),) * len(edits), why, first.duration_s)
    options = {"timeout_s": get_mutant_timeout(first), "stops_early": not first.failures}

    def try_edit(edit: ModuleEdit) -> tuple[MutantRun, float]:
        mutant = code[: edit.start] + edit.text + code[edit.end :]
        found = run(mutant, **options)
        return compare_runs(passing, found), found.cpu_s

    return try_separately(edits, try_edit, keep_half(budget_s, first.cpu_s))


def keep_half(budget_s: float, spent_s: float) -> float:
    """Return the rest of a budget for mutants, at least half: the tests may have cost all of it."""
    return max(budget_s - spent_s, budget_s / 2)


def get_mutant_timeout(first: TestRun) -> float:
    """Return the seconds that the tests may take on a mutant, from their run on the code."""
    return _MIN_RUN_SECONDS + _RUN_FACTOR * first.duration_s


def try_separately(
    edits: Sequence[ModuleEdit],
    try_edit: Callable[[ModuleEdit], tuple[MutantRun, float]],
    budget_s: float,
) -> MutantRuns:
    """Try edits concurrently; none is begun after `budget_s` CPU seconds a core.

    `try_edit` also returns the CPU seconds that it took.
    """
    started, spent = time.monotonic(), [0.0]
    threads = min(_MAX_THREADS, os.cpu_count() or 1)

    def try_in_time(edit: ModuleEdit) -> MutantRun:
        if sum(spent) >= budget_s * threads:
            return MutantRun("not_run")
        run, cpu_s = try_edit(edit)
        spent.append(cpu_s)
        return run

    with ThreadPoolExecutor(threads) as pool:
        runs = tuple(pool.map(try_in_time, edits))
    return MutantRuns(runs, "", time.monotonic() - started, sum(spent))


def compare_runs(passing: Sequence[str], run: TestRun) -> MutantRun:
    """Return the outcome of a mutant, by the tests that pass on the original code."""
    if run.ending == "interrupted":
        return MutantRun("not_run")
    outcomes = run.outcomes
    failing = next((name for name in passing if outcomes.get(name) != "passed"), "")
    if run.ending != "finished":
        is_late = run.ending in ("timeout", "cpu")
        return MutantRun("timeout" if is_late else "crashed", failing)
    return MutantRun("killed", failing) if failing else MutantRun("survived")
