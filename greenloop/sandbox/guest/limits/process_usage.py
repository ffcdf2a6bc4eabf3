"""What a run uses where there are no namespaces: one process, and a folder without a quota."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator

from .namespace_usage import (
    NEAR_LIMIT_RATIO,
    SOCKET_BYTES,
    list_task_folders,
    read_cpu_seconds,
    read_status,
)

_INTERVAL_SECONDS = 0.05
_BLOCK_BYTES, _MAX_DEPTH = 512, 100
_FOLDER_RIGHTS = 0o500
_ENDINGS = {"total memory": "memory", "inodes": "disk"}  # how a run is said to have ended
_MEMORY_FIELDS = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


class ProcessUsage:
    """Looks at the process's tasks, at its open and mapped files, and through its folder."""

    def __init__(self, limits: dict[str, int], pid: int, root: str) -> None:
        self._limits, self._pid, self._root = limits, pid, root
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        self._reached: set[str] = set()

    def check_limits(self) -> str:
        """Which limit the run is over ('' where none); looks every twentieth of a second."""
        if time.monotonic() < self._next_check:
            return ""
        over = self.measure()
        self._next_check = time.monotonic() + _INTERVAL_SECONDS
        return over

    def measure(self) -> str:
        """The same, now."""
        memory, threads = self._measure_process()
        files = _FileUsage(self._root, self._limits["inodes"])
        sockets = files.add_open_files(self._pid, self._limits["file_bytes"])
        limits = self._limits
        over = {
            "total memory": memory + sockets * SOCKET_BYTES > limits["total_bytes"],
            "processes": threads > limits["processes"],
            "disk": files.blocks * _BLOCK_BYTES > limits["disk_bytes"],
            "inodes": files.has_too_many,
        }
        found = [name for name, is_over in over.items() if is_over]
        self._reached.update(found)
        return _ENDINGS.get(found[0], found[0]) if found else ""

    def measure_final(self) -> None:
        """Once more, before the run is ended; and at the CPU time that it had."""
        self.measure()
        with contextlib.suppress(OSError):
            if read_cpu_seconds(self._pid) >= self._limits["cpu_seconds"]:
                self._reached.add("cpu")

    def reached_limits(self, peak_bytes: int) -> list[str]:
        """Limits that were reached, as far as was seen; `peak_bytes` is the kernel's own count."""
        for name, limit in (("memory", "memory_bytes"), ("total memory", "total_bytes")):
            if peak_bytes >= self._limits[limit] * NEAR_LIMIT_RATIO:
                self._reached.add(name)
        return sorted(self._reached)

    def _measure_process(self) -> tuple[int, int]:
        """Bytes of memory, and how many threads."""
        fields = read_status(self._pid)
        threads = fields.get("Threads", 0)
        if fields.get("VmPeak", 0) >= self._limits["memory_bytes"] * NEAR_LIMIT_RATIO:
            self._reached.add("memory")
        if threads >= self._limits["processes"]:
            self._reached.add("processes")
        return sum(fields.get(name, 0) for name in _MEMORY_FIELDS), threads


class _FileUsage:
    """Files of a folder and those that have lost their name, each counted once."""

    def __init__(self, root: str, max_files: int) -> None:
        self.blocks, self.has_too_many = 0, False
        self._root, self._max_files, self._seen = root, max_files, set[tuple[int, int]]()
        with contextlib.suppress(OSError):
            self._walk(os.open(root, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY), 0)

    def _add_file(self, state: os.stat_result) -> None:
        place = (state.st_dev, state.st_ino)
        if place not in self._seen:
            self._seen.add(place)
            self.blocks += state.st_blocks
            self.has_too_many |= len(self._seen) > self._max_files

    def _walk(self, handle: int, depth: int) -> None:
        """By handles, never by long paths, and along no link. Takes the handle."""
        try:
            self.has_too_many |= depth > _MAX_DEPTH
            with _with_folder_rights(handle):
                for name in _list_names(handle) if not self.has_too_many else ():
                    self._add_entry(name, handle, depth)
        finally:
            os.close(handle)

    def _add_entry(self, name: str, handle: int, depth: int) -> None:
        with contextlib.suppress(OSError):
            state = os.stat(name, dir_fd=handle, follow_symlinks=False)
            self._add_file(state)
            if stat.S_ISDIR(state.st_mode):
                flags = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY
                self._walk(os.open(name, flags, dir_fd=handle), depth + 1)

    def add_open_files(self, pid: int, file_bytes: int) -> int:
        """Counts what is open or mapped without a name; how many sockets are open."""
        sockets = 0
        for task in list_task_folders(
            pid
        ):  # all share their open files: the first that is alive tells
            found = [state for state in _stat_open_files(task) if state]
            for state in found:
                sockets += stat.S_ISSOCK(state.st_mode)
                if stat.S_ISREG(state.st_mode) and not state.st_nlink:
                    self._add_file(state)
            if found:
                break
        for place in (
            self._find_deleted_mappings(pid) - self._seen
        ):  # of these the size is not to be had
            self._seen.add(place)
            self.blocks += file_bytes // _BLOCK_BYTES
        return sockets

    def _find_deleted_mappings(self, pid: int) -> set[tuple[int, int]]:
        found = set()
        for task in list_task_folders(pid):
            with contextlib.suppress(OSError), open(f"{task}/maps", "rb") as file:
                lines = [line.split(maxsplit=5) for line in file]
                found |= {
                    (_parse_device(words[3]), int(words[4]))
                    for words in lines
                    if len(words) == 6
                    and words[5].startswith(os.fsencode(self._root) + b"/")
                    and words[5].endswith(b" (deleted)\n")
                }
                if lines:
                    return found
        return found


def _parse_device(text: bytes) -> int:
    major, minor = (int(part, 16) for part in text.split(b":"))
    return os.makedev(major, minor)


def _stat_open_files(task: str) -> Iterator[os.stat_result | None]:
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{task}/fd"):
            with contextlib.suppress(OSError):
                yield os.stat(f"{task}/fd/{name}")


@contextlib.contextmanager
def _with_folder_rights(handle: int) -> Iterator[None]:
    """A folder whose rights were taken away is given them back for the moment."""
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    path = f"/proc/self/fd/{handle}"
    if mode & _FOLDER_RIGHTS == _FOLDER_RIGHTS:
        yield
        return
    os.chmod(path, mode | _FOLDER_RIGHTS)
    try:
        yield
    finally:
        os.chmod(path, mode)


def _list_names(handle: int) -> list[str]:
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=handle)
    try:
        return os.listdir(readable)
    finally:
        os.close(readable)
