"""Mutants of a module, run in a sandbox.

The outcome of a mutant comes from a process that ran untrusted code, so it may be false; see
`greenloop.grading.mutation.evidence`.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from greenloop.records import TestRun
from greenloop.sandbox.guest.protocol.framing import LIVE_THREADS, NO_TEST_PASSES
from greenloop.sandbox.work.trials.lanes import TrialJob, count_lanes, run_trials
from greenloop.sandbox.work.trials.runs import (
    BaselineResult,
    ModuleEdit,
    MutantRuns,
    keep_half,
    run_mutants_separately,
)
from greenloop.testsuite import TestFile

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox

_NEEDS_PROCESS = "loaded"  # before the tests: only a new process can load the edit


def run_mutants(
    sandbox: "Sandbox",
    code: str,
    tests: Sequence[TestFile],
    edits: Sequence[ModuleEdit],
    *,
    module: str,
    budget_s: float,
    lanes: int | None = None,
    known: Sequence[BaselineResult] = (),
) -> MutantRuns:
    """Run the tests that execute each edit of a module, for at most `budget_s` CPU seconds a lane.

    The edits are tried in forks of a process that has collected the tests; if it cannot be forked,
    each edit has its own test run. `known` measurements of tests are not repeated. Raises
    SandboxError if no process can be started.
    """
    started = time.monotonic()

    def run(mutant: str, **options: Any) -> TestRun:
        return sandbox.run_tests(mutant, tests, module=module, **options)

    def run_separately(some: Sequence[ModuleEdit], spent_s: float = 0.0) -> MutantRuns:
        return run_mutants_separately(run, code, some, keep_half(budget_s, spent_s))

    if not sandbox.can_fork:
        return run_separately(edits)
    measured = [{**asdict(item), "lines": sorted(item.lines), "is_loaded": True} for item in known]
    job = TrialJob("mutants", code, tests, module, {"tests": measured})
    found = run_trials(sandbox, job, edits, budget_s, lanes=lanes)
    if found.error in (LIVE_THREADS, NO_TEST_PASSES):
        return run_separately(edits)
    runs = list(found.runs)
    cpu_s, error = found.cpu_s, found.error
    late = [number for number, run in enumerate(runs) if run.outcome == _NEEDS_PROCESS]
    if late:
        spent_s = found.cpu_s / (lanes or count_lanes(sandbox))
        again = run_separately([edits[number] for number in late], spent_s)
        for number, one in zip(late, again.runs, strict=True):
            runs[number] = one
        cpu_s, error = cpu_s + again.cpu_s, error or again.error
    return MutantRuns(tuple(runs), error, time.monotonic() - started, cpu_s)
