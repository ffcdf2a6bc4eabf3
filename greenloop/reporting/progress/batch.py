"""Progress of a batch on standard error: a live table in a terminal, else lines."""

import sys
import time

from rich.table import Table
from rich.text import Text

from greenloop import events as e
from greenloop.records.batch import BatchTotals
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.activity import BatchActivity
from greenloop.reporting.progress.messages import format_event
from greenloop.reporting.progress.renderer import LiveView, NullProgress, PlainProgress, is_live

_MAX_RUNNING_ROWS = 8


class LiveBatchProgress(LiveView):
    """Live view of a batch: lines for ended entries, below them counts and running entries."""

    def __init__(self) -> None:
        self._activity = BatchActivity(_MAX_RUNNING_ROWS)
        self._totals: BatchTotals | None = None
        self._started_at = time.monotonic()
        super().__init__()  # renders for the first time

    def __call__(self, event: e.Event) -> None:
        self._activity.handle_event(event)
        if isinstance(event, e.EntryEnded):
            self._totals = event.totals
        for line in format_event(event):
            self.print_line(Text(sanitize_line(line)))

    def _render(self) -> Table:
        grid = Table.grid(padding=(0, 1))
        if self._totals is not None:
            seconds = time.monotonic() - self._started_at
            grid.add_row(Text(_format_counts(self._totals, seconds), "bold"))
        for text in self._activity.describe():
            row = Text(f"…  {sanitize_line(text)}", "cyan", no_wrap=True, overflow="ellipsis")
            grid.add_row(row)
        return grid


def _format_counts(totals: BatchTotals, seconds: float) -> str:
    done, remaining = totals.specifications - totals.not_run, ""
    if done > totals.unchanged and totals.not_run:
        seconds_each = seconds / (done - totals.unchanged)
        remaining = f", about {seconds_each * totals.not_run:.0f} s left"
    return (
        f"{done} of {totals.specifications} done: {totals.reached} green ({totals.verified} "
        f"verified), {totals.missed} failed, {_format_errors(totals)}; "
        f"{totals.tokens} tokens{remaining}"
    )


def _format_errors(totals: BatchTotals) -> str:
    """Return the number of runs that an error ended, with its noun."""
    return f"{totals.broken_off} error{'s' * (totals.broken_off != 1)}"


def format_totals(totals: BatchTotals) -> str:
    """Return the totals of a batch in two lines."""
    unknown = "recorded" if totals.is_recorded else "cost unknown"
    known = f"${totals.cost_usd:.4f}" if totals.cost_usd is not None else unknown
    cost = known if totals.calls else "no cost"
    edited = f", {totals.refused} changed by hand" if totals.refused else ""
    not_run = f", {totals.not_run} not run" if totals.not_run else ""
    return (
        f"{totals.ended}: {totals.reached} of {totals.specifications} specifications reached "
        f"their goal ({totals.verified} verified), {totals.missed} failed, {_format_errors(totals)}, "
        f"{totals.unchanged} unchanged{edited}{not_run}\n"
        f"{totals.calls} calls, {totals.tokens} tokens, {cost}, {totals.seconds:.1f} s\n"
    )


def create_batch_progress(*, quiet: bool) -> NullProgress:
    """Return the batch renderer that fits standard error."""
    if quiet:
        return NullProgress()
    return LiveBatchProgress() if is_live() else PlainProgress(sys.stderr, activity=BatchActivity())
