"""Collector of concurrent measurements, in which a failing one does not end the others."""

import os
import time
from collections.abc import Callable
from typing import Final

from greenloop.errors import GreenloopError, SandboxError
from greenloop.events import EventSink, WorkEnded, WorkStarted, ignore_event
from greenloop.records import Piece
from greenloop.sandbox.limits import measure_load
from greenloop.syntax.parse import call_again_after_race

# One plain run each, in a warm and in a fresh Python: if both fail, the sandbox can run nothing.
BASIC_PIECES: Final = ("empty_bodies", "flakiness")
_BUSY_LOAD = 1.5  # per processor; the measurements themselves cause at most 1
Measurement = Callable[[], Piece | str | None]


class EvidenceCollector:
    """Times (`seconds`), sandbox `errors` and reasons for absence (`not_measured`), by piece.

    `emit` gets the beginning and end of each piece, in the thread that measures it.
    """

    def __init__(self, emit: EventSink = ignore_event) -> None:
        self._emit = emit
        self.seconds: dict[str, float] = {}
        self.errors: dict[str, SandboxError] = {}
        self.not_measured: dict[str, str] = {}

    def measure(self, name: str, measurement: Measurement) -> Piece | None:
        """Return the piece of a measurement; None if it returns a text, or if it breaks."""
        if self._can_run_nothing():
            return None
        started, shown = time.monotonic(), f"grading, {name.replace('_', ' ')}"
        self._emit(WorkStarted(shown))
        try:
            found = call_again_after_race(measurement)
        except SandboxError as error:
            self.errors[name] = error
            found = "the sandbox failed: " + str(error).split("\n")[0]
        except GreenloopError:
            raise
        except Exception as error:  # noqa: BLE001 - a piece that breaks ends no run
            text = str(error).partition("\n")[0]
            found = f"greenloop failed: {type(error).__name__}: {text}"
        finally:
            self.seconds[name] = round(time.monotonic() - started, 3)
            self._emit(WorkEnded(shown))
        if isinstance(found, str):
            self.not_measured[name] = found
            return None
        return found

    def measure_again(self, name: str, measurement: Measurement, load: str) -> Piece | None:
        """Measure a piece while nothing else runs; attribute a new disturbance to the machine."""
        self.not_measured.pop(name, None)
        busy, before_s = f"machine too busy ({load})", self.seconds.get(name, 0.0)
        piece = self.measure(name, measurement)
        self.seconds[name] = round(self.seconds[name] + before_s, 3)
        if name in self.not_measured:
            self.not_measured[name] = f"{busy}: {self.not_measured[name]}"
        why = piece.disturbance() if piece else ""
        return piece.model_copy(update={"cut_short": f"{busy}: {why}"}) if piece and why else piece

    def raise_if_nothing_runs(self) -> None:
        """Check that one of the basic pieces could be run.

        Raises SandboxError: none could, so nothing can.
        """
        if self._can_run_nothing():
            raise self.errors[BASIC_PIECES[0]]

    def _can_run_nothing(self) -> bool:
        return all(item in self.errors for item in BASIC_PIECES)


def describe_load() -> str:
    """Return this machine's load as text if it is high enough to change outcomes, else ''."""
    load, count = measure_load(), os.cpu_count() or 1
    return f"load {load * count:.1f} on {count} processors" if load > _BUSY_LOAD else ""
