"""Resource usage of a run in namespaces: the sum over its processes and tmpfs file systems."""

from __future__ import annotations

import contextlib
import os

from .proc_stats import list_task_folders, read_cpu_seconds, read_status
from .usage import SOCKET_BYTES, ResourceUsage

_MIN_FREE_BYTES = 64 << 10  # a file system with less is full


class NamespaceUsage(ResourceUsage):
    """Usage of all processes together: limits on each process do not bound their sum."""

    def _find_exceeded(self) -> str:
        limit = self._limits["total_bytes"]
        if self._measure() <= limit or _measure_exactly() + self._measure_unattributed() <= limit:
            return ""
        self._reached.add("total memory")
        return "memory"

    def _measure(self) -> int:
        """Return a quick upper bound of the memory: pages that forks share count for each."""
        total, tasks = 0, 1  # the kernel counts the supervisor too
        for fields in map(self._read_process, _list_other_pids()):
            total += sum(fields.get(name, 0) for name in ("RssAnon", "VmSwap", "VmPTE"))
            tasks += fields.get("Threads", 0)
        if tasks >= self._limits["processes"]:
            self._reached.add("processes")
        return total + self._measure_unattributed()

    def measure_final(self) -> None:
        self._measure()
        for pid in _list_other_pids():  # also those that have ended and are not reaped
            with contextlib.suppress(OSError):
                if read_cpu_seconds(pid) >= self._limits["cpu_seconds"]:
                    self._reached.add("cpu")

    def _measure_unattributed(self) -> int:
        """Return the memory that belongs to no process: tmpfs files and data in sockets."""
        total = 0
        for path, limit in (("/tmp", "disk"), ("/dev/shm", "shared memory")):
            state = os.statvfs(path)
            total += (state.f_blocks - state.f_bfree) * state.f_bsize
            if state.f_bfree * state.f_bsize < _MIN_FREE_BYTES:
                self._reached.add(limit)
            if state.f_files and not state.f_ffree:
                self._reached.add("inodes" if path == "/tmp" else limit)
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
