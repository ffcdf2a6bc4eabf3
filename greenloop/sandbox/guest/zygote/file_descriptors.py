"""The numbers of a run's descriptors, above input, output and errors."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from ..protocol import stack_dump

RESULT, WHERE = 3, 4  # its results; the answer to where it is
_APART, _MOST_FILES = 64, 4096


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


def own_streams(output: int, result: int, where: int, kept: frozenset[int]) -> None:
    """In a run's process: leaves nothing open but the run's own, and what is `kept`.

    The other three are the ends of pipes that it writes to.
    """
    nothing = os.open("/dev/null", os.O_RDONLY)
    apart_result, apart_where = apart(result), apart(where)
    for old, new in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(old, new)
    for old, new in ((apart_result, RESULT), (apart_where, WHERE)):
        os.dup2(old, new, inheritable=False)
    start = WHERE + 1
    for number in (*sorted(kept), _MOST_FILES):
        os.closerange(start, number)
        start = number + 1
    stack_dump.answer_on(WHERE)


def own_errors(handle: int, *, wanted: bool) -> None:
    """Errors come apart from the output where that is `wanted`; the handle is given back."""
    if wanted:
        os.dup2(handle, 2)
    os.close(handle)


def apart(handle: int) -> int:
    """The same, out of the way of the numbers that are wanted."""
    return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _APART)


class Kept:
    """What was opened while everything written went to the null device, which these are too."""

    def __init__(self) -> None:
        self.numbers: frozenset[int] = frozenset()
        self._before: frozenset[int] | None = None
        self._streams: list[int] = []

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """What is opened herein, up to `settle`, is kept; nothing where this is left before."""
        nothing = os.open(os.devnull, os.O_RDWR)
        self._streams = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(nothing, number)
        self._before = _open_files()
        try:
            yield
        finally:
            self._before = None
            self._give_back()

    def settle(self) -> None:
        """From here on nothing more is kept, and output and errors go where they went before."""
        if self._before is not None:
            self.numbers, self._before = _open_files() - self._before, None
        self._give_back()

    def _give_back(self) -> None:
        for number, saved in zip((1, 2), self._streams, strict=False):
            os.dup2(saved, number)
            os.close(saved)
        self._streams = []


def _open_files() -> frozenset[int]:
    found = frozenset(map(int, os.listdir("/proc/self/fd")))
    return frozenset(number for number in found if os.path.exists(f"/proc/self/fd/{number}"))
