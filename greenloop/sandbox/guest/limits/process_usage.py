"""Resource usage of a run without namespaces: one process, and a folder without a quota."""

import contextlib
import os
import stat
from collections.abc import Iterator

from .proc_stats import list_task_folders, read_cpu_seconds
from .usage import SOCKET_BYTES, ResourceUsage

_BLOCK_BYTES, _MAX_DEPTH = 512, 100
_FOLDER_MODE = 0o500
_ENDINGS = {"total memory": "memory", "inodes": "disk"}  # ending by the limit, if they differ
_MEMORY_FIELDS = ("RssAnon", "RssShmem", "VmSwap", "VmPTE")


class ProcessUsage(ResourceUsage):
    """Usage of a process's threads, of its open and mapped files, and of its folder."""

    def __init__(self, limits: dict[str, int], pid: int, root: str) -> None:
        super().__init__(limits)
        self._pid, self._root = pid, root

    def _find_exceeded(self) -> str:
        limits, fields = self._limits, self._read_process(self._pid)
        memory, threads = sum(fields.get(name, 0) for name in _MEMORY_FIELDS), fields.get(
            "Threads", 0
        )
        if threads >= limits["processes"]:
            self._reached.add("processes")
        files = _FileUsage(self._root, limits["inodes"])
        sockets = files.add_open_files(self._pid, limits["file_bytes"])
        exceeded = {
            "total memory": memory + sockets * SOCKET_BYTES > limits["total_bytes"],
            "processes": threads > limits["processes"],
            "disk": files.blocks * _BLOCK_BYTES > limits["disk_bytes"],
            "inodes": files.has_too_many,
        }
        found = [name for name, is_exceeded in exceeded.items() if is_exceeded]
        self._reached.update(found)
        return _ENDINGS.get(found[0], found[0]) if found else ""

    def measure_final(self) -> None:
        self._find_exceeded()
        with contextlib.suppress(OSError):
            if read_cpu_seconds(self._pid) >= self._limits["cpu_seconds"]:
                self._reached.add("cpu")


class _FileUsage:
    """Files in a folder and deleted files that are still open or mapped, each counted once."""

    def __init__(self, root: str, max_files: int) -> None:
        self.blocks, self.has_too_many = 0, False
        self._root, self._max_files, self._seen = root, max_files, set[tuple[int, int]]()
        with contextlib.suppress(OSError):
            self._walk(os.open(root, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY), 0)

    def _add_file(self, state: os.stat_result) -> None:
        file_id = (state.st_dev, state.st_ino)
        if file_id not in self._seen:
            self._seen.add(file_id)
            self.blocks += state.st_blocks
            self.has_too_many |= len(self._seen) > self._max_files

    def _walk(self, handle: int, depth: int) -> None:
        """Add a folder's files by handles, following no link. Closes the handle."""
        try:
            self.has_too_many |= depth > _MAX_DEPTH
            with _with_readable_folder(handle):
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
        """Add deleted files that are open or mapped. Return the number of open sockets."""
        sockets = 0
        for task in list_task_folders(
            pid
        ):  # threads share open files: one running thread is enough
            found = [state for state in _stat_open_files(task) if state]
            for state in found:
                sockets += stat.S_ISSOCK(state.st_mode)
                if stat.S_ISREG(state.st_mode) and not state.st_nlink:
                    self._add_file(state)
            if found:
                break
        unmeasured = self._find_deleted_mappings(pid) - self._seen  # count at the maximum size
        self._seen |= unmeasured
        self.blocks += len(unmeasured) * (file_bytes // _BLOCK_BYTES)
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
def _with_readable_folder(handle: int) -> Iterator[None]:
    """Make a folder readable for the duration of the block."""
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    path = f"/proc/self/fd/{handle}"
    if mode & _FOLDER_MODE == _FOLDER_MODE:
        yield
        return
    os.chmod(path, mode | _FOLDER_MODE)
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
