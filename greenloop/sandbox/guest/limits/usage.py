"""Resource usage of a run, compared with its limits; base of both ways to measure it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from .proc_stats import read_status

_INTERVAL_SECONDS = 0.05
SOCKET_BYTES = 2 * 212992  # maximum that the kernel keeps for a socket, with the largest buffers
_NEAR_LIMIT_RATIO = 0.9  # a run that used so much of a limit and then died, died of it


class ResourceUsage(ABC):
    """Usage of a run's processes and files."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = limits
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        self._reached: set[str] = set()

    def check_limits(self) -> str:
        """Measure at most every 0.05 s and return the limit that is exceeded, or ''."""
        if time.monotonic() < self._next_check:
            return ""
        exceeded = self._find_exceeded()
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        return exceeded

    @abstractmethod
    def _find_exceeded(self) -> str:
        """Measure and return the ending of a run that exceeds a limit, or ''."""

    @abstractmethod
    def measure_final(self) -> None:
        """Measure once more before the run's processes are killed."""

    def reached_limits(self, peak_bytes: int) -> list[str]:
        """Return the limits seen to be reached; `peak_bytes` is the kernel's own count."""
        for name, limit in (("memory", "memory_bytes"), ("total memory", "total_bytes")):
            if peak_bytes >= self._limits[limit] * _NEAR_LIMIT_RATIO:
                self._reached.add(name)
        return sorted(self._reached)

    def _read_process(self, pid: int | str) -> dict[str, int]:
        """Return the numbers of a process's status, and note a nearly full address space."""
        fields = read_status(pid)
        if fields.get("VmPeak", 0) >= self._limits["memory_bytes"] * _NEAR_LIMIT_RATIO:
            self._reached.add("memory")
        return fields
