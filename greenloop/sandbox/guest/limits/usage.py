"""Resource usage of a run, compared with its limits; in namespaces, of all its processes."""

import contextlib
import os
import time
from abc import ABC, abstractmethod
from typing import Any

from .proc_stats import list_task_folders, read_cpu_seconds, read_status

_INTERVAL_SECONDS = 0.05
SOCKET_BYTES = 2 * 212992  # maximum that the kernel keeps for a socket, with the largest buffers
_NEAR_LIMIT_RATIO = 0.9  # share of a limit that counts as reaching it if the run then died
_MIN_FREE_BYTES = 64 << 10  # a file system with less is full


class ResourceUsage(ABC):
    """Usage of a run's processes and files."""

    def __init__(self, limits: dict[str, Any]) -> None:
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

    def list_reached_limits(self, peak_bytes: int) -> list[str]:
        """Return the limits that were reached; `peak_bytes` is the kernel's own count."""
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


class NamespaceUsage(ResourceUsage):
    """Usage of all processes together, which limits on each process do not bound."""

    def _find_exceeded(self) -> str:
        limit = self._limits["total_bytes"]
        if self._measure() <= limit or _measure_exactly() + self._measure_unattributed() <= limit:
            return ""
        self._reached.add("total memory")
        return "memory"

    def _measure(self) -> int:
        """Return a quick upper bound of the memory, which counts shared pages for each fork."""
        total, tasks = 0, 1  # the kernel counts the supervisor too
        for fields in map(self._read_process, _list_other_pids()):
            total += sum(fields.get(name, 0) for name in ("RssAnon", "VmSwap", "VmPTE"))
            tasks += fields.get("Threads", 0)
        if tasks >= self._limits["processes"]:
            self._reached.add("processes")
        return total + self._measure_unattributed()

    def measure_final(self) -> None:
        self._measure()
        for pid in _list_other_pids():  # includes processes that have ended and are not reaped
            with contextlib.suppress(OSError):
                if read_cpu_seconds(pid) >= self._limits["cpu_seconds"]:
                    self._reached.add("cpu")

    def _measure_unattributed(self) -> int:
        """Return the memory that belongs to no process: tmpfs files and data in sockets."""
        total = 0
        folders = [("/tmp", "disk"), ("/dev/shm", "shared memory")]
        if overlay := self._limits.get("overlay"):
            folders.append((overlay["root"], "disk"))
        for path, limit in folders:
            state = os.statvfs(path)
            total += (state.f_blocks - state.f_bfree) * state.f_bsize
            if state.f_bfree * state.f_bsize < _MIN_FREE_BYTES:
                self._reached.add(limit)
            if state.f_files and not state.f_ffree:
                self._reached.add("inodes" if limit == "disk" else limit)
        with open("/proc/net/sockstat", encoding="ascii") as file:
            return total + int(file.readline().split()[2]) * SOCKET_BYTES


def _list_other_pids() -> list[str]:
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdecimal() and name != own]


def _measure_exactly() -> int:
    """Return the memory of all processes, each shared page divided among those that share it."""
    return sum(map(_read_proportional, _list_other_pids()))


def _read_proportional(pid: str) -> int:
    for task in list_task_folders(pid):
        try:
            with open(f"{task}/smaps_rollup", encoding="utf-8") as file:
                lines = [line.split() for line in file]
        except PermissionError:  # it is not dumpable: its shared pages count in full
            fields = read_status(pid)
            return fields.get("RssAnon", 0) + fields.get("VmSwap", 0)
        except OSError:
            continue
        return sum(int(line[1]) * 1024 for line in lines if line[0] in ("Pss_Anon:", "SwapPss:"))
    return 0
