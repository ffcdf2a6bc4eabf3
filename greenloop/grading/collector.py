"""Pieces of evidence, each taken by itself: one that cannot be taken does not end the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from greenloop.errors import SandboxError
from greenloop.events import Emit, WorkEnded, WorkStarted, ignore

_FIRST = ("hollow_run", "flakiness")  # one plain run each, in a warm and in a fresh Python
Taken = TypeVar("Taken")


class Pieces:
    """`seconds` of each piece, those side by side in full; `not_measured`: why there is none of some.

    `failed` are those in which the sandbox failed. A piece that gives text says why there is none.
    `emit` is told of beginnings and ends in the threads that they happen in.
    """

    def __init__(self, emit: Emit = ignore) -> None:
        self._emit = emit
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, SandboxError] = {}
        self.not_measured: dict[str, str] = {}

    def start(
        self, pool: ThreadPoolExecutor, name: str, work: Callable[[], Taken | str]
    ) -> Future[Taken | None]:
        """Takes a piece in another thread, once one is free."""
        return pool.submit(self.take, name, work)

    def take(self, name: str, work: Callable[[], Taken | str]) -> Taken | None:
        """What the work gives; None where the sandbox failed in it, or can run nothing at all."""
        if all(item in self.failed for item in _FIRST):
            return None
        started, shown = time.monotonic(), f"grading, {name.replace('_', ' ')}"
        self._emit(WorkStarted(shown))
        try:
            found = work()
        except SandboxError as error:
            self.failed[name] = error
            found = "the sandbox failed: " + str(error).split("\n")[0]
        finally:
            self.seconds[name] = round(time.monotonic() - started, 3)
            self._emit(WorkEnded(shown))
        if isinstance(found, str):
            self.not_measured[name] = found
            return None
        return found

    def raise_if_nothing_runs(self) -> None:
        """Once the first pieces are taken.

        Raises:
            SandboxError: none of them could be run, so nothing can.
        """
        if all(item in self.failed for item in _FIRST):
            raise self.failed[_FIRST[0]]
