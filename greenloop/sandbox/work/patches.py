"""Patches of a module, tried in a sandbox: which of them make all tests pass.

All results come from a process that ran untrusted code: they only select what is worth an ordinary
test run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.mutant_runs import ModuleEdit
from greenloop.sandbox.work.mutants import MARGIN_SECONDS
from greenloop.sandbox.work.result_decoder import decode_report, parse_index
from greenloop.testsuite import TestFile

BaselineOutcome = Literal["passed", "failed", "skipped", "timeout"]
_OUTCOMES: tuple[BaselineOutcome, ...] = get_args(BaselineOutcome)
_MAX_LINES, _DAY_SECONDS, _MAX_BYTES = 100_000, 86_400.0, 1 << 40


class BaselineResult(NamedTuple):
    """One test on the unchanged code: node id, outcome, cost, and the lines that it executed."""

    id: str
    outcome: BaselineOutcome
    cpu_s: float
    wall_s: float
    lines: frozenset[int]
    peak_bytes: int = 0  # the address space of its process
    uses_outside: bool = False  # fixed ports, or files outside of its folder


class PatchTrialPlan(NamedTuple):
    """How edits are tried: in the given order, with what is known of the tests."""

    baseline: tuple[BaselineResult, ...]
    scores: tuple[float, ...]  # of the edits (lower is better)
    max_passing: int  # edits that passed all tests end the trial
    margin: float  # from the best of these; what is worse is not tried


class PatchRuns(NamedTuple):
    """Indices of the edits that passed all tests, and how many edits were tried."""

    passing: tuple[int, ...] = ()
    tried_count: int = 0
    baseline: tuple[BaselineResult, ...] = ()
    error: str = ""  # why not all were tried ('' if all, or enough passed)


def run_patches(
    sandbox: JobRunner,
    code: str,
    tests: Sequence[TestFile],
    edits: Sequence[ModuleEdit],
    *,
    module: str,
    plan: PatchTrialPlan | None = None,
    max_cpu_s: float = 1.0,
    budget_s: float,
) -> PatchRuns:
    """Measure the tests of a failing module, or try edits of it.

    Without `plan`: measure what each test executes, in at most `max_cpu_s` CPU seconds each. With
    it: try the edits by the plan, for at most `budget_s` seconds.

    Raises:
        SandboxError: no process can be started.
    """
    payload = {
        "module": module,
        "targets": [item.name for item in tests],
        "budget_s": budget_s,
        "most_s": max_cpu_s,
        **({"splices": [], "tests": []} if plan is None else _build_plan_payload(edits, plan)),
    }
    files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
    timeout_s = budget_s + MARGIN_SECONDS
    job = Job("patches", files, payload, packages=sandbox.packages, timeout_s=timeout_s)
    return parse_patch_runs(sandbox.run(job), job.key, len(edits))


def _build_plan_payload(edits: Sequence[ModuleEdit], plan: PatchTrialPlan) -> dict[str, Any]:
    names = ("id", "outcome", "cpu_s", "wall_s", "peak_bytes", "uses_outside")
    scored = enumerate(zip(edits, plan.scores, strict=True))
    return {
        "splices": [
            {"number": n, "place": n, "score": score, **vars(edit)} for n, (edit, score) in scored
        ],
        "tests": [{name: getattr(item, name) for name in names} for item in plan.baseline],
        "enough": plan.max_passing,
        "margin": plan.margin,
    }


def parse_patch_runs(result: ProcessResult, key: str, count: int) -> PatchRuns:
    """Parse the report of a run over `count` edits; one that broke off keeps what it sent."""
    events, is_complete = decode_report(result, key)
    passing: list[int] = []
    baseline: dict[str, BaselineResult] = {}
    tried, error = 0, ""
    for event in events:
        kind, number = event.get("event"), event.get("patch")
        if kind == "passes" and type(number) is int and 0 <= number < count:
            passing.append(number)
        elif kind == "tried" and type(event.get("count")) is int:
            tried = max(tried, min(event["count"], count))
        elif kind == "reached" and (item := _parse_baseline(event)) is not None:
            baseline.setdefault(item.id, item)
        elif kind == "trouble":
            error = str(event.get("what"))[:300]
    if not error and not is_complete:
        error = f"the run of the patches broke off ({result.ending}, status {result.status})"
    if error and result.last_line:
        error += f": {result.last_line[:200]}"
    return PatchRuns(tuple(dict.fromkeys(passing)), tried, tuple(baseline.values()), error)


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
    uses_outside = event.get("uses_outside") is True
    return BaselineResult(event["test"], outcome, cpu_s, wall_s, lines, peak, uses_outside)
