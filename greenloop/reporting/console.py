"""Terminal output by rich, which honours NO_COLOR, FORCE_COLOR and the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.syntax import Syntax

from greenloop.reporting.escaping import escape_commands, escape_invisible

_DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def open_console(stream: TextIO) -> Console:
    """Return a console that shows text as it is, without markup or highlighting."""
    return Console(file=stream, markup=False, highlight=False, emoji=False)


def print_diff(lines: Iterable[str], stream: TextIO) -> None:
    """Print a unified diff in colour, with untrusted text escaped."""
    console = open_console(stream)
    for line in lines:
        style = next((style for mark, style in _DIFF_STYLES.items() if line.startswith(mark)), "")
        console.print(escape_invisible(line), style=style, soft_wrap=True)


def print_code(code: str, stream: TextIO) -> None:
    """Print Python code in colour, with untrusted text escaped."""
    console = open_console(stream)
    shown = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(
        escape_commands(escape_invisible(code)).rstrip("\n")
    )
    console.print(shown, soft_wrap=True)
