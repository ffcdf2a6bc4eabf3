"""Limits of trials: CPU time of all trials, and of each test by its cost on the original code."""

import os
import resource
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..limits.proc_stats import measure_cpu, read_address_space
from .forks import StepLimits

# Factors of the cost with line tracing, which is already several times the cost without.
_MIN_CPU_SECONDS, _CPU_FACTOR, _MIN_IDLE_SECONDS, _IDLE_FACTOR = 0.1, 5, 1.0, 5
_MIN_COLLECT_SECONDS, _COLLECT_FACTOR, _COLLECT_IDLE_SECONDS = 1.0, 10, 11.0
_MEMORY_SHARE = 4
NO_LIMITS = StepLimits(1e9, 1e9)
COLLECTION = -1  # the step before the tests


def limit_step(tests: Sequence[dict[str, Any]], collect_s: float, step: int) -> StepLimits:
    """Return the limits of a test (its number), or of the collection.

    The first test of a fork sets up what it shares with others, such as a database, whose cost may
    have been measured with another test. So each limit includes the cost of the dearest test.
    """
    if not 0 <= step < len(tests):
        cpu_s = _MIN_COLLECT_SECONDS + _COLLECT_FACTOR * collect_s
        return StepLimits(cpu_s, _COLLECT_IDLE_SECONDS)
    cpu_s = _MIN_CPU_SECONDS + max(item["cpu_s"] for item in tests)
    idle_s = _MIN_IDLE_SECONDS + max(item["wall_s"] for item in tests)
    own = tests[step]
    return StepLimits(cpu_s + _CPU_FACTOR * own["cpu_s"], idle_s + _IDLE_FACTOR * own["wall_s"])


def limit_memory(peak_bytes: int, total_bytes: int) -> None:
    """Limit memory to the tests' peak on the original code plus a quarter of `total_bytes`."""
    limit = max(peak_bytes, read_address_space("VmSize")) + total_bytes // _MEMORY_SHARE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Budget:
    """Budget of CPU seconds for this process and all processes that it starts.

    Attributes:
        deadline: When the budget is over in any case, by the monotonic clock.
    """

    def __init__(self, cpu_s: float, wall_s: float) -> None:
        """`wall_s` limits the elapsed time, for trials that wait or run on a busy machine."""
        self._pid, self._cpu_s, self._started = os.getpid(), cpu_s, time.monotonic()
        self._wall_s, self.deadline = wall_s, self._started + wall_s

    def is_over(self) -> bool:
        now = time.monotonic()
        if now - self._started < self._cpu_s:  # trials run one at a time
            return False
        return now > self.deadline or self._measure_used() > self._cpu_s

    def keep_half(self) -> None:
        """Extend the budget so that at least half of it is left."""
        self._cpu_s += max(0.0, self._measure_used() - self._cpu_s / 2)
        self.deadline = max(self.deadline, time.monotonic() + self._wall_s / 2)

    def _measure_used(self) -> float:
        used = measure_cpu(self._pid)  # None without /proc: elapsed time
        return time.monotonic() - self._started if used is None else used[0]
