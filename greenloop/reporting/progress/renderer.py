"""Progress on standard error: a live view at a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

from greenloop import events as e
from greenloop.reporting.escaping import one_line
from greenloop.reporting.progress.activity import Clock, UnderWay
from greenloop.reporting.progress.heartbeat import EVERY_S, BreakingSilence
from greenloop.reporting.progress.messages import LABEL_WIDTH, WARNING, lines_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


WAITING = f"{'…':<{LABEL_WIDTH}}"


class Shown(Protocol):
    """What goes on, taken from events, as texts."""

    def note(self, event: e.Event) -> None: ...

    def texts(self) -> list[str]: ...


class Silent:
    """Tells nothing. Those that tell override what begins and ends with the block."""

    def __call__(self, event: e.Event) -> None:
        return

    def _begin(self) -> None:
        return

    def _end(self) -> None:
        return

    def __enter__(self) -> Silent:
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()


class Plain(Silent):
    """One line an event, for pipes, logs and `NO_COLOR`; and, after `every_s` silent seconds, one of
    what goes on. `shown` keeps what that is."""

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        every_s: float = EVERY_S,
        clock: Clock = time.monotonic,
        shown: Shown | None = None,
    ) -> None:
        self._stream, self._verbose = stream, verbose
        self._lock = threading.Lock()
        self._shown = shown or UnderWay(clock)
        self._silence = BreakingSilence(self._tell_of_it, every_s, clock)

    def _begin(self) -> None:
        self._silence.start()

    def _end(self) -> None:
        self._silence.stop()

    def __call__(self, event: e.Event) -> None:
        self._shown.note(event)
        if lines := lines_of(event, verbose=self._verbose):
            self._silence.told()
            self._print(lines)

    def _tell_of_it(self) -> None:
        if texts := self._shown.texts():
            self._print([f"{WAITING}{'; '.join(texts)}"])

    def _print(self, lines: Sequence[str]) -> None:
        text = "".join(f"{one_line(line)}\n" for line in lines)
        with self._lock:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                return  # nobody reads any more; the run goes on


class Live(Silent):
    """Lines that stay, and below them what goes on, side by side, with seconds and characters."""

    def __init__(self, *, verbose: bool = False) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(stderr=True, highlight=False)
        self._verbose = verbose
        self._under_way = UnderWay()
        self._since, self._ended = time.monotonic(), False
        self._live = RichLive(
            get_renderable=self._waited_for,
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )

    def _begin(self) -> None:
        self._live.start()

    def _end(self) -> None:
        self._live.stop()

    def __call__(self, event: e.Event) -> None:
        self._note(event)
        for line in lines_of(event, verbose=self._verbose):
            self._live.console.print(labelled(one_line(line), _style(event)))

    def _note(self, event: e.Event) -> None:
        if isinstance(event, (e.SandboxBegun, e.SandboxDone)):  # for tracers: many, and short
            return
        self._under_way.note(event)
        if not isinstance(event, e.CallProgress):
            self._since = time.monotonic()
        self._ended = isinstance(event, e.RunFinished)

    def _waited_for(self) -> Text:
        from rich.text import Text

        texts = self._under_way.texts()
        if not texts and not self._ended:  # between two steps
            texts = [f"at work here: {time.monotonic() - self._since:.0f} s"]
        return Text("\n".join(f"{WAITING}{text}" for text in texts))


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
