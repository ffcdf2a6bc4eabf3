"""The numbers of a run's descriptors, above input, output and errors."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from ..protocol import stack_dump

RESULT_FD, STACK_DUMP_FD = 3, 4  # its results; the answer to where it is
_FIRST_HIGH_FD, _MAX_FD = 64, 4096


def reserve_fds(handle: int) -> int:
    """Takes those numbers, so that nothing else gets them; `handle`, moved out of their way.

    In a copy an object of ours that owned one of them would close, when it goes, what is the
    run's by then.
    """
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, STACK_DUMP_FD + 1)
    os.close(handle)
    taken = os.open(os.devnull, os.O_RDWR)
    while taken <= STACK_DUMP_FD:
        taken = os.open(os.devnull, os.O_RDWR)
    os.close(taken)
    return moved


def redirect_streams(output: int, result: int, where: int, inherited_fds: frozenset[int]) -> None:
    """In a run's process: leaves nothing open but the run's own, and what is `kept`.

    The other three are the ends of pipes that it writes to.
    """
    nothing = os.open("/dev/null", os.O_RDONLY)
    apart_result, apart_where = duplicate_high(result), duplicate_high(where)
    for old, new in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(old, new)
    for old, new in ((apart_result, RESULT_FD), (apart_where, STACK_DUMP_FD)):
        os.dup2(old, new, inheritable=False)
    start = STACK_DUMP_FD + 1
    for number in (*sorted(inherited_fds), _MAX_FD):
        os.closerange(start, number)
        start = number + 1
    stack_dump.register_stack_dump(STACK_DUMP_FD)


def redirect_stderr(handle: int, *, is_separate: bool) -> None:
    """Errors come apart from the output where that is `wanted`; the handle is given back."""
    if is_separate:
        os.dup2(handle, 2)
    os.close(handle)


def duplicate_high(handle: int) -> int:
    """The same, out of the way of the numbers that are wanted."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _FIRST_HIGH_FD)


class InheritedDescriptors:
    """What was opened while everything written went to the null device, which these are too."""

    def __init__(self) -> None:
        self.fds: frozenset[int] = frozenset()
        self._fds_before: frozenset[int] | None = None
        self._saved_streams: list[int] = []

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """What is opened herein, up to `settle`, is kept; nothing where this is left before."""
        nothing = os.open(os.devnull, os.O_RDWR)
        self._saved_streams = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(nothing, number)
        self._fds_before = _list_open_fds()
        try:
            yield
        finally:
            self._fds_before = None
            self._restore_streams()

    def finish_recording(self) -> None:
        """From here on nothing more is kept, and output and errors go where they went before."""
        if self._fds_before is not None:
            self.fds, self._fds_before = _list_open_fds() - self._fds_before, None
        self._restore_streams()

    def _restore_streams(self) -> None:
        for number, saved in zip((1, 2), self._saved_streams, strict=False):
            os.dup2(saved, number)
            os.close(saved)
        self._saved_streams = []


def _list_open_fds() -> frozenset[int]:
    found = frozenset(map(int, os.listdir("/proc/self/fd")))
    return frozenset(number for number in found if os.path.exists(f"/proc/self/fd/{number}"))
