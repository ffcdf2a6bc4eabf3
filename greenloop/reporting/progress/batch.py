"""Progress of a batch on standard error: a table at a terminal, a line an entry elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from greenloop import events as e
from greenloop.records import BatchTotals
from greenloop.reporting.escaping import one_line
from greenloop.reporting.progress.batch_activity import BatchUnderWay
from greenloop.reporting.progress.messages import lines_of
from greenloop.reporting.progress.renderer import Plain, Silent, is_live

if TYPE_CHECKING:
    from rich.table import Table

_RUNNING_SHOWN = 8


class Live(Silent):
    """What ended stays as lines; below, the counts and what is running, with seconds."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._under_way = BatchUnderWay(_RUNNING_SHOWN)
        self._totals: BatchTotals | None = None
        self._started = time.monotonic()
        console = Console(stderr=True, highlight=False)
        self._live = RichLive(
            get_renderable=self._table, console=console, refresh_per_second=4, transient=True
        )

    def _begin(self) -> None:
        self._live.start()

    def _end(self) -> None:
        self._live.stop()

    def __call__(self, event: e.Event) -> None:
        self._under_way.note(event)
        if isinstance(event, e.EntryEnded):
            self._totals = event.totals
        for line in lines_of(event):
            self._live.console.print(one_line(line), markup=False, soft_wrap=True)

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 1))
        if self._totals is not None:
            seconds = time.monotonic() - self._started
            grid.add_row(Text(_counts(self._totals, seconds), "bold"))
        for text in self._under_way.texts():
            row = Text(f"…  {one_line(text)}", "cyan", no_wrap=True, overflow="ellipsis")
            grid.add_row(row)
        return grid


def _counts(totals: BatchTotals, seconds: float) -> str:
    done = totals.specifications - totals.not_run
    left = ""
    if done > totals.unchanged and totals.not_run:
        each = seconds / (done - totals.unchanged)
        left = f", about {each * totals.not_run:.0f} s left"
    return (
        f"{done} of {totals.specifications} done: {totals.reached} green ({totals.verified} "
        f"verified), {totals.missed} failed, {totals.broken_off} broken off; {totals.tokens} tokens{left}"
    )


def totals_text(totals: BatchTotals) -> str:
    """The end of a batch in a few lines."""
    cost = f"${totals.cost_usd:.4f}" if totals.cost_usd is not None else "cost unknown"
    cost = cost if totals.calls else "no cost"
    by_hand = f", {totals.refused} changed by hand" if totals.refused else ""
    rest = f", {totals.not_run} not run" if totals.not_run else ""
    return (
        f"{totals.ended}: {totals.reached} of {totals.specifications} specifications reached "
        f"({totals.verified} verified), {totals.missed} failed, {totals.broken_off} broken off, "
        f"{totals.unchanged} unchanged{by_hand}{rest}\n"
        f"{totals.calls} calls, {totals.tokens} tokens, {cost}, {totals.seconds:.1f} s\n"
    )


def batch_progress(*, quiet: bool) -> Silent:
    """The fitting renderer for this standard error."""
    if quiet:
        return Silent()
    return Live() if is_live() else Plain(sys.stderr, shown=BatchUnderWay())
