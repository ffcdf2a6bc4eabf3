"""Outcomes of mutants, and the trial of each in a test run of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from greenloop.records import TestRun
from greenloop.syntax.source import TextEdit

_MAX_THREADS = 4
_MIN_RUN_SECONDS, _RUN_FACTOR = 2.0, 10  # of a test run, from the time that it takes on the code

MutantOutcome = Literal[
    "killed", "survived", "uncovered", "timeout", "crashed", "error", "not_run", "loaded"
]


@dataclass(frozen=True)
class ModuleEdit(TextEdit):
    """An edit of a module, and what is compiled and tested for it.

    `unit` is the part of the module that is compiled for it: its first and last character, its
    first line, and the name of its class ('' for none). `lines` are the first and the last line of
    the statement that changes; tests that execute none of them are not run.
    """

    unit: tuple[int, int, int, str]
    lines: tuple[int, int]


@dataclass(frozen=True)
class MutantRun:
    """The outcome of one mutant, and the test that decided it ('' for none).

    `killed`: a test failed. `crashed`: its process ended during a test. `timeout`: a test took far
    longer than on the module itself. `uncovered`: no test executes it, so none was run. `error`: it
    could not be tried. `not_run`: the time was over.
    """

    outcome: MutantOutcome
    test: str = ""


@dataclass(frozen=True)
class MutantRuns:
    """One run per edit, in their order."""

    runs: tuple[MutantRun, ...]
    error: str = ""  # why not all were tried ('' if all were)
    seconds: float = 0.0  # wall-clock time
    cpu_s: float = 0.0  # CPU time of all processes


TestRunner = Callable[[str, float | None], TestRun]


def run_mutants_separately(
    run: TestRunner, code: str, edits: Sequence[ModuleEdit], budget_s: float
) -> MutantRuns:
    """Run the tests once on the code, and once on each edit of it, for at most `budget_s` seconds.

    `run` takes the source of a module, and the seconds (None: the limit of the sandbox).
    """
    started = time.monotonic()
    first = run(code, None)
    passing = [test.id for test in first.tests if test.outcome == "passed"]
    if first.ending != "finished" or not passing:
        why = f"the tests do not pass twice on the code ({first.ending})"
        return MutantRuns((MutantRun("not_run"),) * len(edits), why, time.monotonic() - started)
    timeout_s = get_mutant_timeout(first)

    def try_edit(edit: ModuleEdit) -> MutantRun:
        mutant = code[: edit.start] + edit.text + code[edit.end :]
        return compare_runs(passing, run(mutant, timeout_s))

    return try_separately(edits, try_edit, started + budget_s)


def get_mutant_timeout(first: TestRun) -> float:
    """Return the seconds that the tests may take on a mutant, from their run on the code."""
    return _MIN_RUN_SECONDS + _RUN_FACTOR * first.duration_s


def try_separately(
    edits: Sequence[ModuleEdit], try_edit: Callable[[ModuleEdit], MutantRun], deadline: float
) -> MutantRuns:
    """Try edits side by side; none is begun after the deadline (of `time.monotonic`)."""
    started = time.monotonic()

    def try_in_time(edit: ModuleEdit) -> MutantRun:
        return try_edit(edit) if time.monotonic() < deadline else MutantRun("not_run")

    with ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1)) as pool:
        runs = tuple(pool.map(try_in_time, edits))
    return MutantRuns(runs, seconds=time.monotonic() - started)


def compare_runs(passing: Sequence[str], run: TestRun) -> MutantRun:
    """Return the outcome of a mutant by the tests that pass without it."""
    if run.ending == "interrupted":
        return MutantRun("not_run")
    outcomes = run.outcomes
    failing = next((name for name in passing if outcomes.get(name) != "passed"), "")
    if run.ending != "finished":
        is_late = run.ending in ("timeout", "cpu")
        return MutantRun("timeout" if is_late else "crashed", failing)
    return MutantRun("killed", failing) if failing else MutantRun("survived")
