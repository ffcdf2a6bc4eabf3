"""Patches in a sandbox: what the tests of a red module reach, and which changes make them pass.

All of it comes out of a process in which foreign code ran: a claim, from which to choose what is
worth an ordinary test run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.mutants import ModuleEdit
from greenloop.sandbox.work.result_decoder import decode_events

BaselineOutcome = Literal["passed", "failed", "skipped", "timeout"]
_OUTCOMES: tuple[BaselineOutcome, ...] = ("passed", "failed", "skipped", "timeout")
_MAX_LINES, _DAY_SECONDS, _MAX_BYTES = 100_000, 86_400.0, 1 << 40


@dataclass(frozen=True)
class BaselineResult:
    """What one test did on the code as it is: its pytest node id, its outcome, its cost in seconds,
    and the lines of the module that it came to. `peak_bytes` is its process's address space then.
    """

    id: str
    outcome: BaselineOutcome
    cpu_s: float
    wall_s: float
    lines: frozenset[int]
    peak_bytes: int = 0


@dataclass(frozen=True)
class PatchTrialPlan:
    """How splices are tried: with what is known of the tests, in the order given.

    `scores` are the splices' (less is better). It ends when `enough` passed all tests, or when all
    that are left are more than `margin` worse than the best of those.
    """

    baseline: tuple[BaselineResult, ...]
    scores: tuple[float, ...]
    max_passing: int
    margin: float


@dataclass(frozen=True)
class PatchRuns:
    """Places, in the splices given, of those that passed all tests; how many were tried.

    `trouble` says why not all could be ('' if all, or enough passed).
    """

    passing: tuple[int, ...] = ()
    tried_count: int = 0
    baseline: tuple[BaselineResult, ...] = ()
    error: str = ""


def build_patch_payload(
    edits: Sequence[ModuleEdit], plan: PatchTrialPlan | None, max_cpu_s: float
) -> dict[str, Any]:
    """As the inside reads it."""
    if plan is None:
        return {"splices": [], "tests": [], "most_s": max_cpu_s}
    names = ("id", "outcome", "cpu_s", "wall_s", "peak_bytes")
    tests = [{name: getattr(item, name) for name in names} for item in plan.baseline]
    scored = zip(edits, plan.scores, strict=True)
    numbered = [
        {"number": n, "place": n, "score": score, **vars(item)}
        for n, (item, score) in enumerate(scored)
    ]
    return {
        "splices": numbered,
        "tests": tests,
        "enough": plan.max_passing,
        "margin": plan.margin,
        "most_s": max_cpu_s,
    }


def parse_patch_runs(result: ProcessResult, key: str, count: int) -> PatchRuns:
    """What was said. A run that broke off keeps what it had said by then."""
    found, whole = decode_events(result.channel_data, key)
    passing: list[int] = []
    reached: dict[str, BaselineResult] = {}
    tried, trouble = 0, ""
    for event in found:
        kind, number = event.get("event"), event.get("patch")
        if kind == "passes" and type(number) is int and 0 <= number < count:
            passing.append(number)
        elif kind == "tried" and type(event.get("count")) is int:
            tried = max(tried, min(event["count"], count))
        elif kind == "reached" and (item := _parse_baseline(event)) is not None:
            reached.setdefault(item.id, item)
        elif kind == "trouble":
            trouble = str(event.get("what"))[:300]
    said = result.output.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    closed = whole and bool(found) and found[-1].get("event") == "end"
    if not trouble and not (closed and result.ending == "finished"):
        trouble = f"the run of the patches broke off ({result.ending}, status {result.status})"
    if trouble and said:
        trouble += f": {said}"
    return PatchRuns(tuple(dict.fromkeys(passing)), tried, tuple(reached.values()), trouble)


def _parse_baseline(event: dict[str, Any]) -> BaselineResult | None:
    outcome = next((item for item in _OUTCOMES if item == event.get("outcome")), None)
    try:
        lines = frozenset(int(item) for item in event["lines"][:_MAX_LINES])
        cpu_s, wall_s = (min(max(0.0, float(event[k])), _DAY_SECONDS) for k in ("cpu_s", "wall_s"))
        peak = min(max(0, int(event.get("peak_bytes", 0))), _MAX_BYTES)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if outcome is None or not isinstance(event.get("test"), str):
        return None
    return BaselineResult(event["test"], outcome, cpu_s, wall_s, lines, peak)
