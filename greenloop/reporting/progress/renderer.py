"""Progress of a run on standard error: a live view in a terminal, else plain lines."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from greenloop import events as e
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.activity import ActivityRow, BatchActivity, Clock, RunActivity
from greenloop.reporting.progress.messages import LABEL_WIDTH, WARNING
from greenloop.reporting.progress.run_messages import RunMessages
from greenloop.reporting.summary import open_console

ACTIVITY_LABEL = f"{'…':<{LABEL_WIDTH}}"
HEARTBEAT_SECONDS = 15.0
_BAR_WIDTH = 20
# Frequent events without a message.
_FREQUENT_EVENTS = (
    e.CallProgress,
    e.SandboxJobStarted,
    e.SandboxJobProgress,
    e.SandboxJobEnded,
)


class NullProgress:
    """Renderer without output, and base class of the others."""

    def __call__(self, event: e.Event) -> None:
        return

    def __enter__(self) -> "NullProgress":
        return self

    def __exit__(self, *_: object) -> None:
        return


class PlainProgress(NullProgress):
    """Renderer of lines for pipes and logs. After a silent interval it shows the current work."""

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        clock: Clock = time.monotonic,
        activity: BatchActivity | None = None,
    ) -> None:
        self._stream, self._messages = stream, RunMessages(verbose=verbose)
        self._lock = threading.Lock()
        self._activity: RunActivity | BatchActivity = activity or RunActivity(clock)
        self._heartbeat_seconds, self._clock = heartbeat_seconds, clock
        self._last_output_at = clock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="greenloop-silence", daemon=True)

    def __enter__(self) -> NullProgress:
        self._last_output_at = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def __call__(self, event: e.Event) -> None:
        self._activity.handle_event(event)
        if lines := self._messages.format(event):
            self._print(lines)

    def check_silence(self) -> None:
        """Show the current work if nothing was printed for the interval."""
        if self._clock() - self._last_output_at >= self._heartbeat_seconds:
            self._print([f"{ACTIVITY_LABEL}{text}" for text in self._activity.describe()])

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._heartbeat_seconds)):
            self.check_silence()

    def _print(self, lines: Sequence[str]) -> None:
        self._last_output_at = self._clock()
        text = "".join(f"{sanitize_line(line)}\n" for line in lines)
        with self._lock:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                return  # the reader has closed the pipe; the run continues


class LiveView(NullProgress):
    """Base class of live views: permanent lines, and below them the result of `_render`."""

    def __init__(self) -> None:
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

    def print_line(self, shown: Table | Text) -> None:
        """Print a permanent line under rich's lock: a concurrent frame would leave rows behind."""
        with self._live._lock:
            self._live.console.print(shown, soft_wrap=isinstance(shown, Text))

    def _render(self) -> Table | Text:
        raise NotImplementedError


class LiveProgress(LiveView):
    """Live view of a run: permanent lines, then a line for each running step, and the usage."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._messages = RunMessages(verbose=verbose, width=open_console(sys.stderr).width)
        self._activity = RunActivity()
        self._last_event_at, self._has_begun, self._ended = time.monotonic(), False, False
        super().__init__()  # renders for the first time

    def __call__(self, event: e.Event) -> None:
        self._track_event(event)
        if isinstance(event, e.ChoiceAsked):
            self._live.stop()
        elif isinstance(event, e.ChoiceAnswered):
            self._live.start()
        for line in self._messages.format(event):
            self.print_line(build_labelled_row(sanitize_line(line), _style_of_event(event)))

    def _track_event(self, event: e.Event) -> None:
        self._activity.handle_event(event)
        if isinstance(event, _FREQUENT_EVENTS):
            return
        self._last_event_at, self._has_begun = time.monotonic(), True
        self._ended = isinstance(event, e.RunFinished)

    def _render(self) -> Text:
        shown, now = Text(no_wrap=True, overflow="ellipsis"), time.monotonic()
        if self._ended:
            return shown
        rows = self._activity.rows()
        for row in rows:
            shown.append(ACTIVITY_LABEL, "cyan").append(row.describe(now))
            shown.append_text(_build_bar(row)).append("\n")
        if not rows:  # between two steps
            shown.append(ACTIVITY_LABEL, "cyan")
            what = "working" if self._has_begun else "starting"
            shown.append(f"{what}: {now - self._last_event_at:.0f} s\n")
        return shown.append(" " * LABEL_WIDTH + self._activity.describe_usage(), "dim")


def _build_bar(row: ActivityRow) -> Text:
    """Return the progress bar of a step; empty if its total is unknown."""
    bar = Text("")
    if row.total:
        done = round(_BAR_WIDTH * row.done / row.total)
        bar.append("  " + "━" * done, "green").append("─" * (_BAR_WIDTH - done), "dim")
    return bar


def build_labelled_row(line: str, style: str) -> Table | Text:
    """Return a line as a label and a text that wraps in its own column, but for a single path."""
    warning = "bold red" if line.startswith(WARNING) else ""
    label, text = line[:LABEL_WIDTH], line[LABEL_WIDTH:]
    if " " not in text:  # can be copied
        return Text.assemble((label, f"bold {style}"), text)
    row = Table.grid(padding=(0, 1))
    row.add_column(width=LABEL_WIDTH - 1, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(Text(label.rstrip(), warning or f"bold {style}"), Text(text, warning))
    return row


def _style_of_event(event: e.Event) -> str:
    if isinstance(event, e.CandidateTested):
        return "green" if event.run.passed else "red"
    if isinstance(event, (e.Stuck, e.CallRetried, e.ResponseRejected, e.DisputeJudged)):
        return "yellow"
    return "cyan"


def create_progress(*, quiet: bool, verbose: bool) -> NullProgress:
    """Return the renderer that fits standard error."""
    if quiet:
        return NullProgress()
    return (
        LiveProgress(verbose=verbose) if is_live() else PlainProgress(sys.stderr, verbose=verbose)
    )


def is_live() -> bool:
    """Return whether standard error is a terminal that can redraw lines, and no CI log."""
    is_log = os.environ.get("CI", "").lower() in ("true", "1")
    return sys.stderr.isatty() and not is_log and os.environ.get("TERM") != "dumb"
