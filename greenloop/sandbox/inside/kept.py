"""Descriptors that stay open in all copies of a process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


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
