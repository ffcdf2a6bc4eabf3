"""What a process and its descendants have used, as the kernel counts it."""

from __future__ import annotations

import os
from collections.abc import Iterator

_STATE, _USED = 0, slice(
    11, 15
)  # after the name: state; user and system time, with dead children's
_AWAKE = b"RD"
_MOST = 256


def used(pid: int) -> tuple[float, bool] | None:
    """CPU seconds of a process with its descendants, and whether any of them is at work now.

    None where the kernel does not tell (no /proc).
    """
    ticks, awake, seen = 0, False, 0
    per_second = os.sysconf("SC_CLK_TCK")
    for number in _family(pid):
        fields = _fields(number)
        if fields is None:
            continue
        ticks += sum(int(item) for item in fields[_USED])
        awake |= fields[_STATE] in _AWAKE
        seen += 1
    return (ticks / per_second, awake) if seen else None


def _family(pid: int) -> Iterator[int]:
    waiting, count = [pid], 0
    while waiting and count < _MOST:
        number = waiting.pop()
        count += 1
        yield number
        waiting.extend(children(number))


def children(pid: int) -> list[int]:
    """The processes whose parent is this one; [] where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(item) for item in file.read().split()]
    except OSError:
        return []


def _fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def address_space(name: str) -> int:
    """`VmSize` or `VmPeak` of this process in bytes; 0 where the kernel does not tell."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(name.encode() + b":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
