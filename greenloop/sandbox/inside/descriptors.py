"""The numbers of a run's descriptors, above input, output and errors."""

from __future__ import annotations

import fcntl
import os

RESULT, WHERE = 3, 4  # its results; the answer to where it is


def reserve(handle: int) -> int:
    """Takes those numbers, so that nothing else gets them; `handle`, moved out of their way.

    In a copy an object of ours that owned one of them would close, when it goes, what is the
    run's by then.
    """
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, WHERE + 1)
    os.close(handle)
    taken = os.open(os.devnull, os.O_RDWR)
    while taken <= WHERE:
        taken = os.open(os.devnull, os.O_RDWR)
    os.close(taken)
    return moved
