"""Current work of a run or a batch, as rows of text."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from greenloop import events as e

Clock = Callable[[], float]

_CHARS_PER_TOKEN = 4
_MUTANTS_ROW = "grading, mutation"


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """A model call or local work."""

    name: str
    started_at: float
    characters: int = 0  # of an answer, received so far
    done: int = 0  # items such as mutants; 0 if unknown
    total: int = 0

    def describe(self, now: float) -> str:
        """Return `name: 45 s, 310 tokens`, or `name: 45 s, 41/100`."""
        received = (
            f", {self.characters // _CHARS_PER_TOKEN + 1:,} tokens" if self.characters else ""
        )
        of_all = f"/{self.total}" if self.total else " done"
        count = f", {self.done}{of_all}" if self.done else ""
        return f"{self.name}: {now - self.started_at:.0f} s{count}{received}"


class RunActivity:
    """Current rows of one run, in the order of their start, and its usage so far. Thread-safe."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._rows: dict[str, ActivityRow] = {}
        self._started_at = clock()
        self._calls, self._tokens, self._cost = 0, 0, 0.0
        self._is_replay = False

    def handle_event(self, event: e.Event) -> None:
        """Update the rows."""
        with self._lock:
            match event:
                case e.CallStarted(tool):
                    self._rows[tool] = ActivityRow(tool, self._clock())
                case e.CallProgress(tool, characters) if tool in self._rows:
                    self._rows[tool] = replace(self._rows[tool], characters=characters)
                case e.CallRetried(tool) if tool in self._rows:
                    self._rows[tool] = replace(self._rows[tool], characters=0)
                case e.SandboxJobProgress(_, kind, done, total):
                    self._count_items(kind, done, total)
                case e.WorkStarted(name):
                    self._rows[name] = ActivityRow(name, self._clock())
                case e.CallFailed(name) | e.WorkEnded(name):
                    self._rows.pop(name, None)
                case e.CallFinished(name):
                    self._rows.pop(name, None)
                    self._calls, self._tokens = self._calls + 1, self._tokens + event.tokens
                    self._cost += event.cost_usd or 0.0
                case e.RunStarted():
                    self._is_replay = event.is_replay
                case e.RunFinished():
                    self._rows.clear()

    def _count_items(self, kind: str, done: int, total: int) -> None:
        """Update the counts of the mutants' row, or of the only row if the job runs tests."""
        row = self._rows.get(_MUTANTS_ROW) if kind == "mutants" else None
        if kind != "mutants" and len(self._rows) == 1:
            (row,) = self._rows.values()
        if row:
            shown = min(done, total) if total else done
            self._rows[row.name] = replace(row, done=shown, total=total)

    def rows(self) -> tuple[ActivityRow, ...]:
        """Return the rows as they are now."""
        with self._lock:
            return tuple(self._rows.values())

    def describe(self) -> list[str]:
        """Return a text for each row."""
        now = self._clock()
        return [item.describe(now) for item in self.rows()]

    def describe_usage(self) -> str:
        """Return calls, tokens and cost so far, and the time since the start."""
        minutes, seconds = divmod(int(self._clock() - self._started_at), 60)
        cost = "recorded" if self._is_replay else f"${self._cost:.4f}" * bool(self._cost)
        calls = f"{self._calls} call{'s' * (self._calls != 1)}, {self._tokens:,} tokens"
        parts = (calls, cost) if self._calls else ()
        return " · ".join((*filter(None, parts), f"{minutes}:{seconds:02}"))


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

        `top_k: 60 s, in generate_code: 45 s, 310 tokens and generate_tests: …`
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
