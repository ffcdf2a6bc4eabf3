"""Patches in a sandbox: what the tests of a red module reach, and which changes make them pass.

All of it comes out of a process in which foreign code ran: a claim, from which to choose what is
worth an ordinary test run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.work.mutants import Splice
from greenloop.sandbox.work.result_decoder import events

ReachedOutcome = Literal["passed", "failed", "skipped", "timeout"]
_OUTCOMES: tuple[ReachedOutcome, ...] = ("passed", "failed", "skipped", "timeout")
_MOST_LINES, _DAY_S, _MOST_BYTES = 100_000, 86_400.0, 1 << 40


@dataclass(frozen=True)
class Reached:
    """What one test did on the code as it is: its pytest node id, its outcome, its cost in seconds,
    and the lines of the module that it came to. `peak_bytes` is its process's address space then.
    """

    id: str
    outcome: ReachedOutcome
    cpu_s: float
    wall_s: float
    lines: frozenset[int]
    peak_bytes: int = 0


@dataclass(frozen=True)
class Trying:
    """How splices are tried: with what is known of the tests, in the order given.

    `scores` are the splices' (less is better). It ends when `enough` passed all tests, or when all
    that are left are more than `margin` worse than the best of those.
    """

    reached: tuple[Reached, ...]
    scores: tuple[float, ...]
    enough: int
    margin: float


@dataclass(frozen=True)
class PatchRuns:
    """Places, in the splices given, of those that passed all tests; how many were tried.

    `trouble` says why not all could be ('' if all, or enough passed).
    """

    passing: tuple[int, ...] = ()
    tried: int = 0
    reached: tuple[Reached, ...] = ()
    trouble: str = ""


def patches_job(splices: Sequence[Splice], trying: Trying | None, most_s: float) -> dict[str, Any]:
    """As the inside reads it."""
    if trying is None:
        return {"splices": [], "tests": [], "most_s": most_s}
    names = ("id", "outcome", "cpu_s", "wall_s", "peak_bytes")
    tests = [{name: getattr(item, name) for name in names} for item in trying.reached]
    scored = zip(splices, trying.scores, strict=True)
    numbered = [
        {"number": n, "place": n, "score": score, **vars(item)}
        for n, (item, score) in enumerate(scored)
    ]
    return {
        "splices": numbered,
        "tests": tests,
        "enough": trying.enough,
        "margin": trying.margin,
        "most_s": most_s,
    }


def patch_runs(ended: Ended, key: str, count: int) -> PatchRuns:
    """What was said. A run that broke off keeps what it had said by then."""
    found, whole = events(ended.result, key)
    passing: list[int] = []
    reached: dict[str, Reached] = {}
    tried, trouble = 0, ""
    for event in found:
        kind, number = event.get("event"), event.get("patch")
        if kind == "passes" and type(number) is int and 0 <= number < count:
            passing.append(number)
        elif kind == "tried" and type(event.get("count")) is int:
            tried = max(tried, min(event["count"], count))
        elif kind == "reached" and (item := _reached(event)) is not None:
            reached.setdefault(item.id, item)
        elif kind == "trouble":
            trouble = str(event.get("what"))[:300]
    said = ended.output.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    closed = whole and bool(found) and found[-1].get("event") == "end"
    if not trouble and not (closed and ended.ending == "finished"):
        trouble = f"the run of the patches broke off ({ended.ending}, status {ended.status})"
    if trouble and said:
        trouble += f": {said}"
    return PatchRuns(tuple(dict.fromkeys(passing)), tried, tuple(reached.values()), trouble)


def _reached(event: dict[str, Any]) -> Reached | None:
    outcome = next((item for item in _OUTCOMES if item == event.get("outcome")), None)
    try:
        lines = frozenset(int(item) for item in event["lines"][:_MOST_LINES])
        cpu_s, wall_s = (min(max(0.0, float(event[k])), _DAY_S) for k in ("cpu_s", "wall_s"))
        peak = min(max(0, int(event.get("peak_bytes", 0))), _MOST_BYTES)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if outcome is None or not isinstance(event.get("test"), str):
        return None
    return Reached(event["test"], outcome, cpu_s, wall_s, lines, peak)
