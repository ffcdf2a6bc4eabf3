"""Verdicts and events of trials, and the limits of a test in a trial."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .fork_pool import ForkResult
from .time_limits import StepLimits

# Factors of the cost while lines were traced, which is already several times the plain cost.
_MIN_CPU_SECONDS, _CPU_FACTOR, _MIN_IDLE_SECONDS, _IDLE_FACTOR = 0.1, 5, 1.0, 5
_MIN_COLLECT_SECONDS, _COLLECT_FACTOR = 1.0, 10
QUICK_TEST_SECONDS = 0.05  # quick tests run first; a finer order would not be repeatable
COLLECTION_STEP = -1
SURVIVED, NEEDS_IMPORT, _KILLED_PREFIX = "survived", "again", "killed "


def build_killed_verdict(test: str) -> str:
    """Return the verdict on a mutant that a test fails on."""
    return _KILLED_PREFIX + json.dumps(test)


def is_killed(verdict: str) -> bool:
    """Return whether it is the verdict of a failed test."""
    return verdict.startswith(_KILLED_PREFIX)


def step_limits(tests: Sequence[dict[str, Any]], collect_s: float, step: int) -> StepLimits:
    """Return the limits for one test, or for collection, from the cost on the original code."""
    if not 0 <= step < len(tests):
        return StepLimits(
            _MIN_COLLECT_SECONDS + _COLLECT_FACTOR * collect_s, _MIN_COLLECT_SECONDS + 10
        )
    cpu_s, wall_s = tests[step]["cpu_s"], tests[step]["wall_s"]
    return StepLimits(
        _MIN_CPU_SECONDS + _CPU_FACTOR * cpu_s, _MIN_IDLE_SECONDS + _IDLE_FACTOR * wall_s
    )


def build_started_event(numbers: Sequence[int]) -> dict[str, Any]:
    """Return the event before trials, sent first because they may kill this process."""
    return {"event": "started", "mutants": list(numbers)}


def result_event(
    number: int, result: ForkResult, tests: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the event of a trial's result."""
    event: dict[str, Any] = {"event": "mutant", "mutant": number, "outcome": result.ending}
    if result.ending in ("timeout", "crashed"):
        is_test = 0 <= result.step < len(tests)
        event["test"] = tests[result.step]["id"] if is_test else "collection"
        event["status"] = result.status
    if result.ending == "verdict":
        event["outcome"] = "killed" if is_killed(result.verdict) else result.verdict
        if event["outcome"] == "killed":
            event["test"] = json.loads(result.verdict[len(_KILLED_PREFIX) :])
    return event
