"""What a run uses, summed over its processes and its file systems in memory."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

_INTERVAL_SECONDS = 0.05
SOCKET_BYTES = (
    2 * 212992
)  # the most that the kernel keeps for one, with a buffer as large as it gets
_MIN_FREE_BYTES = 64 << 10  # less room than this is none
_CPU_MARGIN_SECONDS = 0.1  # the kernel rounds
NEAR_LIMIT_RATIO = 0.9  # of a limit: who came so near and then died, died of it


class NamespaceUsage:
    """Limits on one process do not add up: a hundred small ones are as much as one large one."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = limits
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        self._reached: set[str] = set()

    def check_limits(self) -> str:
        """ "memory" where the run is over its limit, else ""; looks every twentieth of a second."""
        if time.monotonic() < self._next_check:
            return ""
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        most = self._limits["total_bytes"]
        if self.measure() <= most or _measure_proportional() + self._measure_unattributed() <= most:
            return ""
        self._reached.add("total memory")
        return "memory"

    def measure(self) -> int:
        """A quick upper bound of the memory: pages that forks share are counted for each."""
        total, tasks = 0, 1  # the kernel counts the supervisor too
        for fields in _read_other_statuses():
            total += sum(fields.get(name, 0) for name in ("RssAnon", "VmSwap", "VmPTE"))
            tasks += fields.get("Threads", 0)
            if fields.get("VmPeak", 0) >= self._limits["memory_bytes"] * NEAR_LIMIT_RATIO:
                self._reached.add("memory")
        if tasks >= self._limits["processes"]:
            self._reached.add("processes")
        return total + self._measure_unattributed()

    def measure_final(self) -> None:
        """Once more, before what is left of the run is ended; and at the CPU time that each had."""
        self.measure()
        if any(used >= self._limits["cpu_seconds"] for used in _read_other_cpu_seconds()):
            self._reached.add("cpu")

    def _measure_unattributed(self) -> int:
        """Memory that no process has: files in the run's file systems, what waits in its sockets."""
        total = 0
        for path, full in (("/tmp", "disk"), ("/dev/shm", "shared memory")):
            state = os.statvfs(path)
            total += (state.f_blocks - state.f_bfree) * state.f_bsize
            if state.f_bfree * state.f_bsize < _MIN_FREE_BYTES:
                self._reached.add(full)
            if state.f_files and not state.f_ffree:
                self._reached.add("inodes" if path == "/tmp" else full)
        with open("/proc/net/sockstat", encoding="ascii") as file:
            return total + int(file.readline().split()[2]) * SOCKET_BYTES

    def reached_limits(self, peak_bytes: int) -> list[str]:
        """Limits that were reached, as far as was seen; `peak_bytes` is the kernel's own count."""
        for name, limit in (("memory", "memory_bytes"), ("total memory", "total_bytes")):
            if peak_bytes >= self._limits[limit] * NEAR_LIMIT_RATIO:
                self._reached.add(name)
        return sorted(self._reached)


def _list_other_pids() -> list[str]:
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdecimal() and name != own]


def list_task_folders(pid: int | str) -> Iterator[str]:
    """The folders of a process's threads. The first may have ended while the others go on."""
    folder = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        yield from (f"{folder}/{name}" for name in os.listdir(folder))


def read_status(pid: int | str) -> dict[str, int]:
    """The numbers of a process's status, from a thread that is alive where there is one."""
    fields: dict[str, int] = {}
    for task in list_task_folders(pid):
        with contextlib.suppress(OSError), open(f"{task}/status", "rb") as file:
            fields = parse_status(file.read())
        if "RssAnon" in fields:
            break
    return fields


def _read_other_statuses() -> Iterator[dict[str, int]]:
    """Of each other process the numbers in its status."""
    return map(read_status, _list_other_pids())


def parse_status(status: bytes) -> dict[str, int]:
    """The numbers of a process's status by name; what is in kB in bytes."""
    found: dict[str, int] = {}
    for line in status.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit() and words[0].endswith(b":"):
            scale = 1024 if words[2:] == [b"kB"] else 1
            found[words[0][:-1].decode("ascii", "replace")] = int(words[1]) * scale
    return found


def _measure_proportional() -> int:
    """Exactly: each shared page is divided among those who share it."""
    return sum(_read_proportional(name) for name in _list_other_pids())


def _read_proportional(pid: str) -> int:
    for task in list_task_folders(pid):
        try:
            with open(f"{task}/smaps_rollup", encoding="utf-8") as file:
                lines = [line.split() for line in file]
        except PermissionError:  # it has made itself not dumpable: all that it shares counts too
            fields = read_status(pid)
            return fields.get("RssAnon", 0) + fields.get("VmSwap", 0)
        except OSError:
            continue
        return sum(int(line[1]) * 1024 for line in lines if line[0] in ("Pss_Anon:", "SwapPss:"))
    return 0


def _read_other_cpu_seconds() -> Iterator[float]:
    """Of each other process, with all its threads; also of one that has ended and not been reaped."""
    for name in _list_other_pids():
        with contextlib.suppress(OSError):
            yield read_cpu_seconds(name)


def read_cpu_seconds(pid: int | str) -> float:
    """What a process has used, all its threads together. Raises OSError where it is gone."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + _CPU_MARGIN_SECONDS
