"""How much memory a run uses, summed over its processes and its file systems in memory."""

from __future__ import annotations

import os
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")
_INTERVAL_S = 0.05


class Usage:
    """Limits on one process do not add up: a hundred small ones are as much as one large one."""

    def __init__(self, limits: dict[str, int], spaces: bool) -> None:
        self._most, self._spaces = limits["total_bytes"], spaces
        self._next = time.monotonic() + _INTERVAL_S

    def too_much(self) -> bool:
        """Whether the run is over its limit; looks every twentieth of a second."""
        if time.monotonic() < self._next or not self._spaces:
            return False
        self._next = time.monotonic() + _INTERVAL_S
        if _resident() + _stored() <= self._most:
            return False
        return _proportional() + _stored() > self._most


def _others() -> list[str]:
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdecimal() and name != own]


def _resident() -> int:
    """A quick upper bound: pages that forks share are counted once for each."""
    total = 0
    for name in _others():
        try:
            with open(f"/proc/{name}/statm", encoding="utf-8") as file:
                fields = file.read().split()
        except OSError:
            continue
        total += (int(fields[1]) - int(fields[2])) * _PAGE
    return total


def _proportional() -> int:
    """Exactly: each shared page is divided among those who share it."""
    total = 0
    for name in _others():
        try:
            with open(f"/proc/{name}/smaps_rollup", encoding="utf-8") as file:
                lines = [line.split() for line in file if line.startswith("Pss_Anon:")]
        except OSError:
            continue
        total += sum(int(line[1]) * 1024 for line in lines)
    return total


def _stored() -> int:
    total = 0
    for path in ("/tmp", "/dev/shm"):
        state = os.statvfs(path)
        total += (state.f_blocks - state.f_bfree) * state.f_bsize
    return total
