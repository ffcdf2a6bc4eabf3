"""Trials of patches in a sandbox, to find those that make all tests pass.

All results come from a process that ran untrusted code, so they only select patches for an ordinary
test run.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from greenloop.sandbox.work.result_decoder import decode_report, parse_index
from greenloop.sandbox.work.trials.lanes import (
    TrialJob,
    count_lanes,
    describe_error,
    read_cpu_seconds,
    run_trials,
)
from greenloop.sandbox.work.trials.runs import BaselineOutcome, BaselineResult, ModuleEdit
from greenloop.testsuite import TestFile

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox

_OUTCOMES: tuple[BaselineOutcome, ...] = get_args(BaselineOutcome)
_MAX_LINES, _DAY_SECONDS, _MAX_BYTES = 100_000, 86_400.0, 1 << 40
MIN_COLLECT_SECONDS = 5.0  # of CPU time, for the collection


@dataclass(frozen=True)
class MeasuredTests:
    """Measurements of all tests; `error` says why there are none."""

    tests: tuple[BaselineResult, ...] = ()
    error: str = ""
    cpu_s: float = 0.0


@dataclass(frozen=True)
class PatchTrialPlan:
    """Plan of trials, in the order of the edits: known measurements of the tests, and limits."""

    baseline: tuple[BaselineResult, ...]
    scores: tuple[float, ...]  # of the edits (lower is better)
    max_passing: int  # number of passing edits that ends the trials
    margin: float  # edits whose score exceeds that of the best passing edit by more are not tried
    max_collect_s: float = MIN_COLLECT_SECONDS


@dataclass(frozen=True)
class PatchRuns:
    """Indices of the edits that passed all tests or need a separate run; number of tried edits."""

    passing: tuple[int, ...] = ()
    tried_count: int = 0
    error: str = ""  # why not all were tried ('' if all, or enough passed)
    cpu_s: float = 0.0  # on each core


def measure_tests(
    sandbox: "Sandbox",
    code: str,
    tests: Sequence[TestFile],
    *,
    module: str,
    max_cpu_s: float,
    budget_s: float,
    max_collect_s: float = MIN_COLLECT_SECONDS,
) -> MeasuredTests:
    """Measure what each test executes, in at most `max_cpu_s` CPU seconds each, `budget_s` in all.

    Raises SandboxError if no process can be started.
    """
    if not sandbox.can_fork:
        return MeasuredTests(error="nothing is forked in this sandbox")
    options = {"is_red": True, "max_test_s": max_cpu_s, "max_collect_s": max_collect_s}
    job = TrialJob("patches", code, tests, module, options).build(sandbox, [], budget_s)
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    cpu_s = read_cpu_seconds(result, events)
    if error := describe_error(result, events, is_complete):
        return MeasuredTests(error=error, cpu_s=cpu_s)
    found = (_parse_baseline(item) for item in events if item.get("event") == "measured")
    return MeasuredTests(tuple(item for item in found if item is not None), cpu_s=cpu_s)


def run_patches(
    sandbox: "Sandbox",
    code: str,
    tests: Sequence[TestFile],
    edits: Sequence[ModuleEdit],
    *,
    module: str,
    plan: PatchTrialPlan,
    budget_s: float,
) -> PatchRuns:
    """Try edits of a failing module by the plan, for at most `budget_s` CPU seconds on each core.

    Raises SandboxError if no process can be started.
    """
    baseline = [{**asdict(item), "lines": [], "is_loaded": True} for item in plan.baseline]
    options = {
        "is_red": True,
        "tests": baseline,
        "max_collect_s": plan.max_collect_s,
        "enough": plan.max_passing,
        "margin": plan.margin,
    }
    job = TrialJob("patches", code, tests, module, options)
    found = run_trials(sandbox, job, edits, budget_s, plan.scores)
    outcomes = [item.outcome for item in found.runs]
    # If the module was loaded before the tests (by a plug-in), only a new run executes the edit.
    kinds = ("survived", "loaded")
    passing = tuple(n for kind in kinds for n, outcome in enumerate(outcomes) if outcome == kind)
    tried = len(outcomes) - outcomes.count("not_run")
    cpu_s = found.cpu_s / count_lanes(sandbox)
    return PatchRuns(passing, tried, "" if passing else found.error, cpu_s)


def _parse_baseline(event: dict[str, Any]) -> BaselineResult | None:
    outcome = next((item for item in _OUTCOMES if item == event.get("outcome")), None)
    try:
        lines = frozenset(parse_index(item, _MAX_LINES) for item in event["lines"][:_MAX_LINES])
        cpu_s, wall_s = (min(max(0.0, float(event[k])), _DAY_SECONDS) for k in ("cpu_s", "wall_s"))
        peak = min(max(0, int(event.get("peak_bytes", 0))), _MAX_BYTES)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if outcome is None or not isinstance(event.get("test"), str):
        return None
    starts = event.get("starts_processes") is True
    return BaselineResult(event["test"], outcome, cpu_s, wall_s, lines, peak, starts)
