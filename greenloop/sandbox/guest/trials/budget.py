"""What the trials of a job may take: CPU time, so that a loaded machine tries as many edits."""

from __future__ import annotations

import os
import time

from ..limits.proc_stats import measure_cpu

_WALL_FACTOR, _MIN_WALL_SECONDS = 4.0, 5.0  # of trials that wait, or have a share of a busy machine


class Budget:
    """CPU seconds of this process and of all that it starts.

    Attributes:
        deadline: When it is over in any case, by the monotonic clock.
    """

    def __init__(self, cpu_s: float) -> None:
        self._pid, self._cpu_s, self._started = os.getpid(), cpu_s, time.monotonic()
        self.deadline = self._started + _WALL_FACTOR * cpu_s + _MIN_WALL_SECONDS

    def is_over(self) -> bool:
        now = time.monotonic()
        if now - self._started < self._cpu_s:  # trials run one at a time
            return False
        used = measure_cpu(self._pid)  # None without /proc: elapsed time
        return now > self.deadline or used is None or used[0] > self._cpu_s
