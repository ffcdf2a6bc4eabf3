"""How the trial of one mutant may end, and what it may use until then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..fork_messages import StepLimits
from ..fork_pool import ForkResult

# Times what a test used while its lines were traced: that is several times what it needs.
_MIN_CPU_SECONDS, _CPU_FACTOR, _MIN_IDLE_SECONDS, _IDLE_FACTOR = 0.1, 5, 1.0, 5
_MIN_COLLECT_SECONDS, _COLLECT_FACTOR = 1.0, 10
QUICK_TEST_SECONDS = (
    0.05  # a test is quick or it is not: a finer order would not be the same each time
)
COLLECTION_STEP = -1
SURVIVED, NEEDS_IMPORT, _KILLED_PREFIX = "survived", "again", "killed "


def killed_verdict(test: str) -> str:
    """The verdict of a test that failed."""
    return _KILLED_PREFIX + json.dumps(test)


def step_limits(tests: Sequence[dict[str, Any]], collect_s: float, step: int) -> StepLimits:
    """What a mutant may use for one test (or to be collected), from what the code itself used."""
    if not 0 <= step < len(tests):
        return StepLimits(
            _MIN_COLLECT_SECONDS + _COLLECT_FACTOR * collect_s, _MIN_COLLECT_SECONDS + 10
        )
    cpu_s, wall_s = tests[step]["cpu_s"], tests[step]["wall_s"]
    return StepLimits(
        _MIN_CPU_SECONDS + _CPU_FACTOR * cpu_s, _MIN_IDLE_SECONDS + _IDLE_FACTOR * wall_s
    )


def started_event(number: int) -> dict[str, Any]:
    """It is about to be tried: it may end us all, and that must be known first."""
    return {"event": "started", "mutant": number}


def result_event(
    number: int, result: ForkResult, tests: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A mutant's end in plain values."""
    event: dict[str, Any] = {"event": "mutant", "mutant": number, "outcome": result.ending}
    if result.ending in ("timeout", "crashed"):
        inside = 0 <= result.step < len(tests)
        event["test"] = tests[result.step]["id"] if inside else "collection"
        event["status"] = result.status
    if result.ending == "verdict":
        event["outcome"] = "killed" if result.verdict.startswith(_KILLED_PREFIX) else result.verdict
        if event["outcome"] == "killed":
            event["test"] = json.loads(result.verdict[len(_KILLED_PREFIX) :])
    return event
