"""File descriptors of a run's process, besides standard input, output and error."""

import fcntl
import os
from collections.abc import Iterable

from ..isolation.null_device import redirect_to_null
from ..protocol import stack_dump

RESULT_FD, STACK_DUMP_FD = 3, 4
_FIRST_HIGH_FD, _MAX_FD = 64, 4096


def reserve_fds(handle: int) -> int:
    """Occupy a run's descriptors for the lifetime of this process; move `handle` above them.

    Otherwise an object of the zygote could own one, and close the run's when it is deleted.
    """
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, STACK_DUMP_FD + 1)
    os.close(handle)
    taken = os.open(os.devnull, os.O_RDWR)
    while taken <= STACK_DUMP_FD:
        taken = os.open(os.devnull, os.O_RDWR)
    os.close(taken)
    return moved


def redirect_streams(output: int, result: int, dump: int, kept_fds: Iterable[int]) -> None:
    """In a run's process: close everything but the run's descriptors and `kept_fds`.

    The first three arguments are the write ends of pipes.
    """
    high_result, high_dump = duplicate_high(result), duplicate_high(dump)
    for new in (1, 2):
        os.dup2(output, new)
    for old, new in ((high_result, RESULT_FD), (high_dump, STACK_DUMP_FD)):
        os.dup2(old, new, inheritable=False)
    start = STACK_DUMP_FD + 1
    for number in (*sorted(kept_fds), _MAX_FD):
        os.closerange(start, number)
        start = number + 1
    redirect_to_null([0])
    stack_dump.register_stack_dump(STACK_DUMP_FD)


def redirect_stderr(handle: int, *, is_separate: bool) -> None:
    """Redirect standard error to `handle` if it is separate from the output; close the handle."""
    if is_separate:
        os.dup2(handle, 2)
    os.close(handle)


def duplicate_high(handle: int) -> int:
    """Duplicate a descriptor to a number above those that a run's process uses."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _FIRST_HIGH_FD)
