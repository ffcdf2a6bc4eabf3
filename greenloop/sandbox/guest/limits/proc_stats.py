"""Resource usage of processes, read from /proc."""

import contextlib
import os
import resource
from collections.abc import Iterator

# Indexes of fields of /proc/PID/stat after the name: state; CPU time, own or with dead children's.
_STATE_FIELD, _OWN_CPU_FIELDS, _CPU_FIELDS = 0, slice(11, 13), slice(11, 15)
_ACTIVE_STATES = b"RD"
_MAX_PROCESSES = 256
_CPU_MARGIN_SECONDS = 0.1  # the kernel rounds


def measure_cpu(pid: int) -> tuple[float, bool] | None:
    """Return CPU seconds of a process with its descendants, and whether any is active now.

    None without /proc.
    """
    ticks, is_active, count = 0, False, 0
    for number in _walk_descendants(pid):
        with contextlib.suppress(OSError):
            fields = _read_stat_fields(number)
            ticks += sum(map(int, fields[_CPU_FIELDS]))
            is_active |= fields[_STATE_FIELD] in _ACTIVE_STATES
            count += 1
    return (ticks / os.sysconf("SC_CLK_TCK"), is_active) if count else None


def _walk_descendants(pid: int) -> Iterator[int]:
    waiting, count = [pid], 0
    while waiting and count < _MAX_PROCESSES:
        number = waiting.pop()
        count += 1
        yield number
        waiting.extend(list_children(number))


def list_children(pid: int) -> list[int]:
    """Return the ids of a process's children; [] without /proc."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(item) for item in file.read().split()]
    except OSError:
        return []


def _read_stat_fields(pid: int | str) -> list[bytes]:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def read_cpu_seconds(pid: int | str) -> float:
    """Return the CPU seconds of a process, rounded up. Raises OSError if it is gone."""
    ticks = sum(map(int, _read_stat_fields(pid)[_OWN_CPU_FIELDS]))
    return ticks / os.sysconf("SC_CLK_TCK") + _CPU_MARGIN_SECONDS


def read_address_space(field: str) -> int:
    """Return `VmSize` or `VmPeak` of this process in bytes; 0 without /proc."""
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:
        return _parse_status(file.read()).get(field, 0)
    return 0


def list_task_folders(pid: int | str) -> Iterator[str]:
    """Yield the /proc folders of a process's threads, of which the first may end early."""
    folder = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        yield from (f"{folder}/{name}" for name in os.listdir(folder))


def read_status(pid: int | str) -> dict[str, int]:
    """Return the numbers in a process's status, from a running thread if there is one."""
    fields: dict[str, int] = {}
    for task in list_task_folders(pid):
        with contextlib.suppress(OSError), open(f"{task}/status", "rb") as file:
            fields = _parse_status(file.read())
        if "RssAnon" in fields:
            break
    return fields


def _parse_status(status: bytes) -> dict[str, int]:
    """Return the numbers in a status by name, with kB converted to bytes."""
    found: dict[str, int] = {}
    for line in status.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit() and words[0].endswith(b":"):
            scale = 1024 if words[2:] == [b"kB"] else 1
            found[words[0][:-1].decode("ascii", "replace")] = int(words[1]) * scale
    return found


def own_cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
