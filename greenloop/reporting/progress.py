"""Progress on standard error: a live view at a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from greenloop import events as e
from greenloop.reporting.lines import LABEL_WIDTH, WARNING, lines_of

if TYPE_CHECKING:
    from rich.table import Table


class Silent:
    """Tells nothing."""

    def __call__(self, event: e.Event) -> None:
        return

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return


class Plain(Silent):
    """One line an event: for pipes, logs and `NO_COLOR`."""

    def __init__(self, stream: TextIO, *, verbose: bool = False) -> None:
        self._stream, self._verbose = stream, verbose

    def __call__(self, event: e.Event) -> None:
        for line in lines_of(event, verbose=self._verbose):
            try:
                print(one_line(line), file=self._stream, flush=True)
            except (OSError, ValueError):
                return  # nobody reads any more; the run goes on


class Live(Silent):
    """Lines that stay, and below them what is being waited for, with seconds and characters."""

    def __init__(self, *, verbose: bool = False) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(stderr=True, highlight=False)
        self._verbose = verbose
        self._waiting: dict[str, tuple[float, int]] = {}
        self._since, self._ended = time.monotonic(), False
        self._lock = threading.Lock()
        self._live = RichLive(
            get_renderable=self._waited_for,
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )

    def __enter__(self) -> Live:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def __call__(self, event: e.Event) -> None:
        self._note(event)
        for line in lines_of(event, verbose=self._verbose):
            self._live.console.print(labelled(one_line(line), _style(event)))

    def _note(self, event: e.Event) -> None:
        with self._lock:
            if isinstance(event, e.CallStarted):
                self._waiting[event.tool] = (time.monotonic(), 0)
            elif isinstance(event, e.CallProgress) and event.tool in self._waiting:
                self._waiting[event.tool] = (self._waiting[event.tool][0], event.characters)
            elif isinstance(event, e.CallFinished):
                self._waiting.pop(event.tool, None)
            if not isinstance(event, (e.CallProgress, e.SandboxBegun, e.SandboxDone)):
                self._since = time.monotonic()
            self._ended = isinstance(event, e.RunFinished)

    def _waited_for(self) -> str:
        now = time.monotonic()
        with self._lock:
            waiting, since, ended = dict(self._waiting), self._since, self._ended
        if not waiting:  # nobody is asked: tests are run, or their green is graded
            return "" if ended else f"…        at work here {now - since:.0f} s"
        return "\n".join(
            f"…        {tool} {now - since:.0f} s, {characters} characters"
            for tool, (since, characters) in waiting.items()
        )


def labelled(line: str, style: str) -> Table:
    """A line as a label and its text, which wraps beside the label and not below it."""
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 1))
    row.add_column(width=LABEL_WIDTH - 1, no_wrap=True)
    row.add_column(overflow="fold")
    loud = "bold red" if line.startswith(WARNING) else ""
    label = Text(line[:LABEL_WIDTH].rstrip(), loud or f"bold {style}")
    row.add_row(label, Text(line[LABEL_WIDTH:], loud))
    return row


def one_line(text: str) -> str:
    """Without control characters: what a model or a test wrote must not steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def _style(event: e.Event) -> str:
    if isinstance(event, e.Attempted):
        return "green" if event.run.passed else "red"
    if isinstance(event, (e.Stuck, e.CallRetried, e.AnswerRejected, e.DisputeJudged)):
        return "yellow"
    return "cyan"


def progress(*, quiet: bool, verbose: bool) -> Silent:
    """The fitting renderer for this standard error."""
    if quiet:
        return Silent()
    return Live(verbose=verbose) if is_live() else Plain(sys.stderr, verbose=verbose)


def is_live() -> bool:
    """Whether lines that are drawn over can be seen: not in a pipe, a CI job's log or without
    colour."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("CI", "").lower() in ("true", "1")
    return sys.stderr.isatty() and not plain and os.environ.get("TERM") != "dumb"
