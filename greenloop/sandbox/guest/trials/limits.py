"""Limits of one test in a trial, from what it costs on the original code."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..limits.proc_stats import read_address_space
from .forks import StepLimits

# Factors of the cost while lines were traced, which is already several times the plain cost.
_MIN_CPU_SECONDS, _CPU_FACTOR, _MIN_IDLE_SECONDS, _IDLE_FACTOR = 0.1, 5, 1.0, 5
_MIN_COLLECT_SECONDS, _COLLECT_FACTOR, _COLLECT_IDLE_SECONDS = 1.0, 10, 11.0
_MEMORY_SHARE = 4
NO_LIMITS = StepLimits(1e9, 1e9)
COLLECTION = -1  # the step before the tests


def limit_step(tests: Sequence[dict[str, Any]], collect_s: float, step: int) -> StepLimits:
    """Return the limits of a test (its number), or of the collection."""
    if not 0 <= step < len(tests):
        cpu_s = _MIN_COLLECT_SECONDS + _COLLECT_FACTOR * collect_s
        return StepLimits(cpu_s, _COLLECT_IDLE_SECONDS)
    cpu_s, wall_s = tests[step]["cpu_s"], tests[step]["wall_s"]
    return StepLimits(
        _MIN_CPU_SECONDS + _CPU_FACTOR * cpu_s, _MIN_IDLE_SECONDS + _IDLE_FACTOR * wall_s
    )


def limit_memory(peak_bytes: int, total_bytes: int) -> None:
    """Limit this process to what the tests need on the original code, and a share of the whole."""
    limit = max(peak_bytes, read_address_space("VmSize")) + total_bytes // _MEMORY_SHARE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
