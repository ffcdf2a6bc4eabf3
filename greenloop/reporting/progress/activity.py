"""Work that is going on in a run or a batch, as rows of text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from greenloop import events as e

Clock = Callable[[], float]


@dataclass(frozen=True)
class ActivityRow:
    """A model call or local work; `characters` of an answer received so far, None for local work."""

    name: str
    started_at: float
    characters: int | None = None

    def describe(self, now: float) -> str:
        """Return `name: 45 s, 1,234 characters`."""
        received = "" if self.characters is None else f", {self.characters:,} characters"
        return f"{self.name}: {now - self.started_at:.0f} s{received}"


class RunActivity:
    """Rows of one run in the order in which they started. Thread-safe."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._rows: dict[str, ActivityRow] = {}

    def handle_event(self, event: e.Event) -> None:
        """Update the rows."""
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

    def describe(self) -> list[str]:
        """Return a text for each row."""
        with self._lock:
            rows = tuple(self._rows.values())
        now = self._clock()
        return [item.describe(now) for item in rows]


class BatchActivity:
    """Rows of the specifications of a batch; the first `max_entries` are named. Thread-safe."""

    def __init__(self, max_entries: int = 4, clock: Clock = time.monotonic) -> None:
        self._max_entries, self._clock, self._lock = max_entries, clock, threading.Lock()
        self._entries: dict[str, tuple[float, RunActivity]] = {}

    def handle_event(self, event: e.Event) -> None:
        """Update the rows."""
        with self._lock:
            match event:
                case e.EntryStarted(id):
                    self._entries[id] = (self._clock(), RunActivity(self._clock))
                case e.EntryProgress(id, inner) if id in self._entries:
                    self._entries[id][1].handle_event(inner)
                case e.EntryEnded(outcome):
                    self._entries.pop(outcome.id, None)

    def describe(self) -> list[str]:
        """Return a text for each named row; the last one counts the others.

        `top_k: 60 s, in generate_code: 45 s, 1,234 characters and generate_tests: …`
        """
        now = self._clock()
        with self._lock:
            entries = list(self._entries.items())
        texts = []
        for id, (started_at, activity) in entries[: self._max_entries]:
            steps = " and ".join(activity.describe())
            texts.append(f"{id}: {now - started_at:.0f} s{', in ' if steps else ''}{steps}")
        more = len(entries) - self._max_entries
        return [*texts, *([f"and {more} more"] if more > 0 else [])]
