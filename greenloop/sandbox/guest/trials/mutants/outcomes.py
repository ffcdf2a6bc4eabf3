"""How the trial of one mutant may end, and what it may use until then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..fork_messages import Bounds
from ..fork_pool import Result

# Times what a test used while its lines were traced: that is several times what it needs.
_CPU_FLOOR_S, _CPU_TIMES, _IDLE_FLOOR_S, _IDLE_TIMES = 0.1, 5, 1.0, 5
_COLLECT_FLOOR_S, _COLLECT_TIMES = 1.0, 10
QUICK_S = 0.05  # a test is quick or it is not: a finer order would not be the same each time
COLLECTION = -1
SURVIVED, AGAIN, _KILLED = "survived", "again", "killed "


def killed(test: str) -> str:
    """The verdict of a test that failed."""
    return _KILLED + json.dumps(test)


def bounds(tests: Sequence[dict[str, Any]], collect_s: float, step: int) -> Bounds:
    """What a mutant may use for one test (or to be collected), from what the code itself used."""
    if not 0 <= step < len(tests):
        return Bounds(_COLLECT_FLOOR_S + _COLLECT_TIMES * collect_s, _COLLECT_FLOOR_S + 10)
    cpu_s, wall_s = tests[step]["cpu_s"], tests[step]["wall_s"]
    return Bounds(_CPU_FLOOR_S + _CPU_TIMES * cpu_s, _IDLE_FLOOR_S + _IDLE_TIMES * wall_s)


def started(number: int) -> dict[str, Any]:
    """It is about to be tried: it may end us all, and that must be known first."""
    return {"event": "started", "mutant": number}


def event_of(number: int, result: Result, tests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A mutant's end in plain values."""
    event: dict[str, Any] = {"event": "mutant", "mutant": number, "outcome": result.ending}
    if result.ending in ("timeout", "crashed"):
        inside = 0 <= result.step < len(tests)
        event["test"] = tests[result.step]["id"] if inside else "collection"
        event["status"] = result.status
    if result.ending == "verdict":
        event["outcome"] = "killed" if result.verdict.startswith(_KILLED) else result.verdict
        if event["outcome"] == "killed":
            event["test"] = json.loads(result.verdict[len(_KILLED) :])
    return event
