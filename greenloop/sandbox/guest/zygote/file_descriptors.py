"""File descriptors of a run's process, besides standard input, output and error."""

import fcntl
import os

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


class GuestPipes:
    """Pipes from a run: output, separate errors, reports, stack dump."""

    def __init__(self) -> None:
        self.output, self._output_in = os.pipe()
        self.errors, self._errors_in = os.pipe()
        self.result, self._result_in = os.pipe()
        self.stack_dump, self._stack_dump_in = os.pipe()

    def close_guest_ends(self) -> None:
        """In the process that reads: close the write ends."""
        for handle in (self._output_in, self._errors_in, self._result_in, self._stack_dump_in):
            os.close(handle)

    def close(self) -> None:
        """In the process that reads: close the read ends."""
        for handle in (self.output, self.errors, self.result, self.stack_dump):
            os.close(handle)

    def connect_guest(self, *, has_separate_errors: bool) -> None:
        """In a run's process: write to the pipes, and close all other descriptors."""
        errors = self._errors_in if has_separate_errors else self._output_in
        ends = (self._output_in, errors, self._result_in, self._stack_dump_in)
        high = [fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _FIRST_HIGH_FD) for handle in ends]
        for old, new in zip(high, (1, 2, RESULT_FD, STACK_DUMP_FD), strict=True):
            os.dup2(old, new, inheritable=new < RESULT_FD)
        os.closerange(STACK_DUMP_FD + 1, _MAX_FD)
        redirect_to_null([0])
        stack_dump.register_stack_dump(STACK_DUMP_FD)
