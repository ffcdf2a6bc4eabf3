"""Asking the person before a file is written."""

from __future__ import annotations

import difflib
import sys
import termios
from pathlib import Path

from greenloop.errors import InputError
from greenloop.reporting.escaping import sanitize_line


def check_terminal() -> None:
    """Raises InputError where there is nobody to ask: silence is no yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("--approve needs a terminal to ask at; leave it out, or run at one")


def confirm_write(path: Path, text: str) -> bool:
    """Shows what would change in `path`, and whether it may."""
    before = path.read_text("utf-8", "replace") if path.exists() else ""
    lines = difflib.unified_diff(
        before.splitlines(), text.splitlines(), str(path), str(path), lineterm=""
    )
    for line in lines:
        print(sanitize_line(line), file=sys.stderr)
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
    print(f"write {path}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print(f"declined: {path} was not written", file=sys.stderr)
    return False


def approve_reviewed(_path: Path, _text: str) -> bool:
    """Where the person was asked about all files together, and accepted."""
    return True


def approve_always(_path: Path, _text: str) -> bool:
    """Where nobody wants to be asked."""
    return True
