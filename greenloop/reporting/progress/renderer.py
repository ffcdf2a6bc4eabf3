"""Progress of a run on standard error: a live view in a terminal, else plain lines."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from greenloop import events as e
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.activity import BatchActivity, Clock, RunActivity
from greenloop.reporting.progress.messages import LABEL_WIDTH, WARNING, format_event

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


ACTIVITY_LABEL = f"{'…':<{LABEL_WIDTH}}"
HEARTBEAT_SECONDS = 15.0


class NullProgress:
    """Progress without output, and the base of the others."""

    def __call__(self, event: e.Event) -> None:
        return

    def __enter__(self) -> NullProgress:
        return self

    def __exit__(self, *_: object) -> None:
        return


class Heartbeat:
    """Thread that calls `on_silence` after each `interval_seconds` without output."""

    def __init__(
        self,
        on_silence: Callable[[], None],
        interval_seconds: float = HEARTBEAT_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._on_silence, self._interval_seconds, self._clock = on_silence, interval_seconds, clock
        self._last_output_at = clock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="greenloop-silence", daemon=True)

    def start(self) -> None:
        self.record_output()
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def record_output(self) -> None:
        """Restart the interval."""
        self._last_output_at = self._clock()

    def check_silence(self) -> None:
        """Call `on_silence` if the interval is over."""
        if self._clock() - self._last_output_at >= self._interval_seconds:
            self.record_output()
            self._on_silence()

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._interval_seconds)):
            self.check_silence()


class PlainProgress(NullProgress):
    """Lines for pipes, logs and `NO_COLOR`, and the current work after an interval without any."""

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        clock: Clock = time.monotonic,
        activity: BatchActivity | None = None,
    ) -> None:
        self._stream, self._verbose = stream, verbose
        self._lock = threading.Lock()
        self._activity: RunActivity | BatchActivity = activity or RunActivity(clock)
        self._heartbeat = Heartbeat(self._print_activity, heartbeat_seconds, clock)

    def __enter__(self) -> NullProgress:
        self._heartbeat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.stop()

    def __call__(self, event: e.Event) -> None:
        self._activity.handle_event(event)
        if lines := format_event(event, verbose=self._verbose):
            self._heartbeat.record_output()
            self._print(lines)

    def _print_activity(self) -> None:
        if texts := self._activity.describe():
            self._print([f"{ACTIVITY_LABEL}{'; '.join(texts)}"])

    def _print(self, lines: Sequence[str]) -> None:
        text = "".join(f"{sanitize_line(line)}\n" for line in lines)
        with self._lock:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                return  # the reader has closed the pipe; the run continues


class LiveView(NullProgress):
    """Base of the live views: permanent lines, and below them what `_render` returns."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            get_renderable=self._render,
            console=Console(stderr=True, highlight=False),
            refresh_per_second=4,
            transient=True,
        )

    def __enter__(self) -> NullProgress:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _render(self) -> Table | Text:
        raise NotImplementedError


class LiveProgress(LiveView):
    """Permanent lines, and below them the current work with seconds and characters."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._activity = RunActivity()
        self._last_event_at, self._ended = time.monotonic(), False
        super().__init__()  # renders for the first time

    def __call__(self, event: e.Event) -> None:
        self._track_event(event)
        if isinstance(event, e.ChoiceAsked):
            self._live.stop()
        elif isinstance(event, e.ChoiceAnswered):
            self._live.start()
        for line in format_event(event, verbose=self._verbose):
            self._live.console.print(
                build_labelled_row(sanitize_line(line), _style_of_event(event))
            )

    def _track_event(self, event: e.Event) -> None:
        if isinstance(event, (e.SandboxJobStarted, e.SandboxJobEnded)):  # many; for tracers
            return
        self._activity.handle_event(event)
        if not isinstance(event, e.CallProgress):
            self._last_event_at = time.monotonic()
        self._ended = isinstance(event, e.RunFinished)

    def _render(self) -> Text:
        from rich.text import Text

        texts = self._activity.describe()
        if not texts and not self._ended:  # between two steps
            texts = [f"working: {time.monotonic() - self._last_event_at:.0f} s"]
        return Text("\n".join(f"{ACTIVITY_LABEL}{text}" for text in texts))


def build_labelled_row(line: str, style: str) -> Table:
    """Return a line as a label and a text that wraps in its own column."""
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 1))
    row.add_column(width=LABEL_WIDTH - 1, no_wrap=True)
    row.add_column(overflow="fold")
    warning = "bold red" if line.startswith(WARNING) else ""
    label = Text(line[:LABEL_WIDTH].rstrip(), warning or f"bold {style}")
    row.add_row(label, Text(line[LABEL_WIDTH:], warning))
    return row


def _style_of_event(event: e.Event) -> str:
    if isinstance(event, e.CandidateTested):
        return "green" if event.run.passed else "red"
    if isinstance(event, (e.Stuck, e.CallRetried, e.ResponseRejected, e.DisputeJudged)):
        return "yellow"
    return "cyan"


def create_progress(*, quiet: bool, verbose: bool) -> NullProgress:
    """Return the renderer for this standard error."""
    if quiet:
        return NullProgress()
    return (
        LiveProgress(verbose=verbose) if is_live() else PlainProgress(sys.stderr, verbose=verbose)
    )


def is_live() -> bool:
    """Return whether standard error is a terminal that can redraw lines, and no CI log."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("CI", "").lower() in ("true", "1")
    return sys.stderr.isatty() and not plain and os.environ.get("TERM") != "dumb"
