"""File descriptors of a run's process, besides standard input, output and error."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from ..isolation.null_device import is_null_device, redirect_to_null
from ..protocol import stack_dump

RESULT_FD, STACK_DUMP_FD = 3, 4
_FIRST_HIGH_FD, _MAX_FD = 64, 4096


def reserve_fds(handle: int) -> int:
    """Occupy those numbers for the lifetime of this process; return `handle` at another one.

    Otherwise an object of the zygote could own one of them, and close the run's when it is deleted.
    """
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, STACK_DUMP_FD + 1)
    os.close(handle)
    taken = os.open(os.devnull, os.O_RDWR)
    while taken <= STACK_DUMP_FD:
        taken = os.open(os.devnull, os.O_RDWR)
    os.close(taken)
    return moved


def redirect_streams(output: int, result: int, dump: int, inherited_fds: frozenset[int]) -> None:
    """In a run's process: close everything but the run's descriptors and `inherited_fds`.

    The first three arguments are the write ends of pipes.
    """
    high_result, high_dump = duplicate_high(result), duplicate_high(dump)
    for new in (1, 2):
        os.dup2(output, new)
    for old, new in ((high_result, RESULT_FD), (high_dump, STACK_DUMP_FD)):
        os.dup2(old, new, inheritable=False)
    start = STACK_DUMP_FD + 1
    for number in (*sorted(inherited_fds), _MAX_FD):
        os.closerange(start, number)
        start = number + 1
    redirect_to_null([0, *filter(is_null_device, inherited_fds)])
    stack_dump.register_stack_dump(STACK_DUMP_FD)


def redirect_stderr(handle: int, *, is_separate: bool) -> None:
    """Let standard error go to `handle` if it is separate from the output; close the handle."""
    if is_separate:
        os.dup2(handle, 2)
    os.close(handle)


def duplicate_high(handle: int) -> int:
    """Duplicate a descriptor above the numbers that a run's process uses."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _FIRST_HIGH_FD)


class InheritedDescriptors:
    """Descriptors of the null device, opened while output went there; forks get new ones."""

    def __init__(self) -> None:
        self.fds: frozenset[int] = frozenset()
        self._fds_before: frozenset[int] | None = None
        self._saved_streams: list[int] = []

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is opened until `finish_recording`; nothing if the block is left before."""
        null = os.open(os.devnull, os.O_RDWR)
        self._saved_streams = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(null, number)
        self._fds_before = _list_open_fds()
        try:
            yield
        finally:
            self._fds_before = None
            self._restore_streams()

    def finish_recording(self) -> None:
        """Stop recording, and restore standard output and error."""
        if self._fds_before is not None:
            opened = _list_open_fds() - self._fds_before
            self.fds, self._fds_before = frozenset(filter(is_null_device, opened)), None
        self._restore_streams()

    def _restore_streams(self) -> None:
        for number, saved in zip((1, 2), self._saved_streams, strict=False):
            os.dup2(saved, number)
            os.close(saved)
        self._saved_streams = []


def _list_open_fds() -> frozenset[int]:
    found = frozenset(map(int, os.listdir("/proc/self/fd")))
    return frozenset(number for number in found if os.path.exists(f"/proc/self/fd/{number}"))
