"""Measurements run side by side: one that fails does not end the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from greenloop.errors import SandboxError
from greenloop.events import EventSink, WorkEnded, WorkStarted, ignore_event
from greenloop.records import Piece

# One plain run each, in a warm and in a fresh Python: where both fail, nothing can be run.
BASIC_PIECES: Final = ("empty_bodies", "flakiness")
Measurement = Callable[[], Piece | str | None]


class EvidenceCollector:
    """`seconds` of each piece; `not_measured`: why there is none of some; `errors` of the sandbox.

    `emit` gets the beginning and end of each piece, in the thread that measures it.
    """

    def __init__(self, emit: EventSink = ignore_event) -> None:
        self._emit = emit
        self.seconds: dict[str, float] = {}
        self.errors: dict[str, SandboxError] = {}
        self.not_measured: dict[str, str] = {}

    def submit(
        self, pool: ThreadPoolExecutor, name: str, measurement: Measurement
    ) -> Future[Piece | None]:
        """Measure a piece in another thread, once one is free."""
        return pool.submit(self.measure, name, measurement)

    def measure(self, name: str, measurement: Measurement) -> Piece | None:
        """Return what a measurement returns; None where it returns a text or the sandbox fails."""
        if self._can_run_nothing():
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
        """Check that one of the basic pieces could be run.

        Raises:
            SandboxError: none could, so nothing can.
        """
        if self._can_run_nothing():
            raise self.errors[BASIC_PIECES[0]]

    def _can_run_nothing(self) -> bool:
        return all(item in self.errors for item in BASIC_PIECES)
