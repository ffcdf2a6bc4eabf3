"""What a process and its descendants have used, as the kernel counts it."""

from __future__ import annotations

import os
from collections.abc import Iterator

_STATE_FIELD, _CPU_TIME_FIELDS = 0, slice(
    11, 15
)  # after the name: state; user and system time, with dead children's
_ACTIVE_STATES = b"RD"
_MAX_PROCESSES = 256


def measure_cpu(pid: int) -> tuple[float, bool] | None:
    """CPU seconds of a process with its descendants, and whether any of them is at work now.

    None where the kernel does not tell (no /proc).
    """
    ticks, awake, seen = 0, False, 0
    per_second = os.sysconf("SC_CLK_TCK")
    for number in _walk_descendants(pid):
        fields = _read_stat_fields(number)
        if fields is None:
            continue
        ticks += sum(int(item) for item in fields[_CPU_TIME_FIELDS])
        awake |= fields[_STATE_FIELD] in _ACTIVE_STATES
        seen += 1
    return (ticks / per_second, awake) if seen else None


def _walk_descendants(pid: int) -> Iterator[int]:
    waiting, count = [pid], 0
    while waiting and count < _MAX_PROCESSES:
        number = waiting.pop()
        count += 1
        yield number
        waiting.extend(list_children(number))


def list_children(pid: int) -> list[int]:
    """The processes whose parent is this one; [] where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(item) for item in file.read().split()]
    except OSError:
        return []


def _read_stat_fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def read_address_space(field: str) -> int:
    """`VmSize` or `VmPeak` of this process in bytes; 0 where the kernel does not tell."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(field.encode() + b":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
