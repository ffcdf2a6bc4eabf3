"""What a run uses, summed over its processes and its file systems in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

_INTERVAL_S = 0.05
_SOCKET_BYTES = (
    2 * 212992
)  # the most that the kernel keeps for one, with a buffer as large as it gets
_NEAR = 0.9  # of a limit: who came so near and then died, died of it


class Usage:
    """Limits on one process do not add up: a hundred small ones are as much as one large one."""

    def __init__(self, limits: dict[str, int], spaces: bool) -> None:
        self._limits, self._spaces = limits, spaces
        self._next = time.monotonic() + _INTERVAL_S
        self._hit: set[str] = set()

    def too_much(self) -> bool:
        """Whether the run is over its memory limit; looks every twentieth of a second."""
        if time.monotonic() < self._next or not self._spaces:
            return False
        self._next = time.monotonic() + _INTERVAL_S
        most = self._limits["total_bytes"]
        return self.look() > most and _proportional() + _elsewhere() > most

    def look(self) -> int:
        """A quick upper bound of the memory: pages that forks share are counted for each."""
        if not self._spaces:
            return 0
        total, tasks = 0, 1  # the kernel counts the supervisor too
        for fields in _others():
            total += sum(fields.get(name, 0) for name in ("RssAnon", "VmSwap", "VmPTE"))
            tasks += fields.get("Threads", 0)
            if fields.get("VmPeak", 0) >= self._limits["memory_bytes"] * _NEAR:
                self._hit.add("memory")
        if tasks >= self._limits["processes"]:
            self._hit.add("processes")
        return total + _elsewhere()

    def hit(self, peak_bytes: int) -> list[str]:
        """Limits that were reached, as far as was seen; `peak_bytes` is the kernel's own count."""
        if peak_bytes >= min(self._limits["memory_bytes"], self._limits["total_bytes"]) * _NEAR:
            self._hit.add("memory")
        return sorted(self._hit)


def _names() -> list[str]:
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdecimal() and name != own]


def _others() -> Iterator[dict[str, int]]:
    """Of each other process the numbers in its status; what is in kB in bytes."""
    for name in _names():
        try:
            with open(f"/proc/{name}/status", "rb") as file:
                yield _numbers(file.read())
        except OSError:
            continue


def _numbers(status: bytes) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in status.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit() and words[0].endswith(b":"):
            scale = 1024 if words[2:] == [b"kB"] else 1
            found[words[0][:-1].decode("ascii", "replace")] = int(words[1]) * scale
    return found


def _proportional() -> int:
    """Exactly: each shared page is divided among those who share it."""
    total = 0
    for name in _names():
        try:
            with open(f"/proc/{name}/smaps_rollup", encoding="utf-8") as file:
                lines = [line.split() for line in file]
        except PermissionError:  # it has made itself not dumpable: all that it shares counts too
            total += _whole(name)
            continue
        except OSError:
            continue
        total += sum(int(line[1]) * 1024 for line in lines if line[0] in ("Pss_Anon:", "SwapPss:"))
    return total


def _whole(name: str) -> int:
    try:
        with open(f"/proc/{name}/status", "rb") as file:
            fields = _numbers(file.read())
    except OSError:
        return 0
    return fields.get("RssAnon", 0) + fields.get("VmSwap", 0)


def _elsewhere() -> int:
    """Memory that no process has: files in the run's file systems, and what waits in its sockets."""
    total = 0
    for path in ("/tmp", "/dev/shm"):
        state = os.statvfs(path)
        total += (state.f_blocks - state.f_bfree) * state.f_bsize
    with open("/proc/net/sockstat", encoding="ascii") as file:
        return total + int(file.readline().split()[2]) * _SOCKET_BYTES
