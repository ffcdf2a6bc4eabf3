"""What goes on in a batch: specifications, and within each what it waits for."""

from __future__ import annotations

import threading
import time

from greenloop import events as e
from greenloop.reporting.progress.activity import Clock, RunActivity


class BatchActivity:
    """Told and asked from any thread. At most `most` are named, those that began first."""

    def __init__(self, max_entries: int = 4, clock: Clock = time.monotonic) -> None:
        self._max_entries, self._clock, self._lock = max_entries, clock, threading.Lock()
        self._entries: dict[str, tuple[float, RunActivity]] = {}

    def handle_event(self, event: e.Event) -> None:
        """Takes in what an event says of an entry."""
        with self._lock:
            match event:
                case e.EntryStarted(id):
                    self._entries[id] = (self._clock(), RunActivity(self._clock))
                case e.EntryProgress(id, inner) if id in self._entries:
                    self._entries[id][1].handle_event(inner)
                case e.EntryEnded(outcome):
                    self._entries.pop(outcome.id, None)

    def describe(self) -> list[str]:
        """A text for each, as of now; the last one may count those that are left out."""
        now = self._clock()
        with self._lock:
            entries = list(self._entries.items())
        left = len(entries) - self._max_entries
        return [
            *(
                _describe_entry(id, now - since, inner)
                for id, (since, inner) in entries[: self._max_entries]
            ),
            *([f"and {left} more"] if left > 0 else []),
        ]


def _describe_entry(id: str, seconds: float, activity: RunActivity) -> str:
    """`top_k: 60 s, in generate_code: 45 s, 1,234 characters and generate_tests: …`"""
    within = " and ".join(activity.describe())
    return f"{id}: {seconds:.0f} s{', in ' if within else ''}{within}"
