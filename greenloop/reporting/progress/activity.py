"""What goes on right now: calls of the model, runs and pieces of a grade, several at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from greenloop import events as e

Clock = Callable[[], float]


@dataclass(frozen=True)
class ActivityRow:
    """One thing that goes on; `characters` of an answer have come in, None where none is awaited."""

    name: str
    started_at: float
    characters: int | None = None

    def describe(self, now: float) -> str:
        """`name: 45 s, 1,234 characters`"""
        counted = "" if self.characters is None else f", {self.characters:,} characters"
        return f"{self.name}: {now - self.started_at:.0f} s{counted}"


class RunActivity:
    """Rows in the order in which they began. Told and asked from any thread."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._rows: dict[str, ActivityRow] = {}

    def handle_event(self, event: e.Event) -> None:
        """Takes in what an event says of beginnings, ends and characters."""
        with self._lock:
            match event:
                case e.CallStarted(tool):
                    self._rows[tool] = ActivityRow(tool, self._clock(), 0)
                case e.CallProgress(tool, characters) if tool in self._rows:
                    self._rows[tool] = replace(self._rows[tool], characters=characters)
                case e.CallRetried(tool) if tool in self._rows:
                    self._rows[tool] = replace(self._rows[tool], characters=0)
                case e.WorkStarted(name):
                    self._rows[name] = ActivityRow(name, self._clock())
                case e.CallFinished(name) | e.CallFailed(name) | e.WorkEnded(name):
                    self._rows.pop(name, None)
                case e.RunFinished():
                    self._rows.clear()

    def rows(self) -> tuple[ActivityRow, ...]:
        with self._lock:
            return tuple(self._rows.values())

    def describe(self) -> list[str]:
        """A text for each, as of now."""
        now = self._clock()
        return [item.describe(now) for item in self.rows()]
