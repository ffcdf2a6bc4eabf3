"""Pieces of evidence, each taken by itself: one that cannot be taken does not end the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from greenloop.errors import SandboxError
from greenloop.events import EventSink, WorkEnded, WorkStarted, ignore_event

_BASIC_PIECES = ("empty_bodies", "flakiness")  # one plain run each, in a warm and in a fresh Python
MeasuredT = TypeVar("MeasuredT")


class EvidenceCollector:
    """`seconds` of each piece, those side by side in full; `not_measured`: why there is none of some.

    `failed` are those in which the sandbox failed. A piece that gives text says why there is none.
    `emit` is told of beginnings and ends in the threads that they happen in.
    """

    def __init__(self, emit: EventSink = ignore_event) -> None:
        self._emit = emit
        self.seconds: dict[str, float] = {}
        self.errors: dict[str, SandboxError] = {}
        self.not_measured: dict[str, str] = {}

    def submit(
        self, pool: ThreadPoolExecutor, name: str, measurement: Callable[[], MeasuredT | str]
    ) -> Future[MeasuredT | None]:
        """Takes a piece in another thread, once one is free."""
        return pool.submit(self.measure, name, measurement)

    def measure(self, name: str, measurement: Callable[[], MeasuredT | str]) -> MeasuredT | None:
        """What the work gives; None where the sandbox failed in it, or can run nothing at all."""
        if all(item in self.errors for item in _BASIC_PIECES):
            return None
        started, shown = time.monotonic(), f"grading, {name.replace('_', ' ')}"
        self._emit(WorkStarted(shown))
        try:
            found = measurement()
        except SandboxError as error:
            self.errors[name] = error
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
        if all(item in self.errors for item in _BASIC_PIECES):
            raise self.errors[_BASIC_PIECES[0]]
