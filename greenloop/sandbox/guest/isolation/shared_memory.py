"""Replacement of shared anonymous memory by unnamed files of a file system with limited size.

The system-call filter refuses such memory, because no limit counts what a partial `munmap` leaves.
"""

import mmap
import os
from typing import Any

_FOLDER = "/dev/shm"


def limit_shared_mappings() -> None:
    """Make `mmap.mmap(-1, n)` map a file without a name, in this process and its forks."""
    original: Any = mmap.mmap

    def create(
        cls: type,
        fileno: int,
        length: int,
        flags: int = mmap.MAP_SHARED,
        prot: int = mmap.PROT_READ | mmap.PROT_WRITE,
        access: int = mmap.ACCESS_DEFAULT,
        offset: int = 0,
        **more: Any,
    ) -> Any:
        is_shared = access != mmap.ACCESS_COPY and flags & mmap.MAP_SHARED
        if fileno != -1 or not is_shared or length <= 0:
            return original.__new__(cls, fileno, length, flags, prot, access, offset, **more)
        try:
            handle = _create_file(length)
        except PermissionError:  # a run of one process, which has nothing to share it with
            kept = flags & ~mmap.MAP_SHARED | mmap.MAP_PRIVATE
            return original.__new__(cls, -1, length, kept, prot, access, offset, **more)
        try:
            kept = flags & ~mmap.MAP_ANONYMOUS
            return original.__new__(cls, handle, length, kept, prot, access, offset, **more)
        finally:
            os.close(handle)

    namespace = {"__new__": create, "__slots__": (), "__module__": "mmap"}
    mmap.mmap = type("mmap", (original,), namespace)  # type: ignore[misc, assignment]


def _create_file(length: int) -> int:
    """Return the descriptor of a file of this length. Raises OSError if it does not fit."""
    handle = os.open(_FOLDER, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(handle, 0, length)  # else a page that does not fit kills the process
    except OSError:
        os.close(handle)
        raise
    return handle
