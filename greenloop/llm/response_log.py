"""The run's `answers.jsonl`: audit log, recording and checkpoint in one file.

Each line is one model answer, on disk (flushed, fsynced) before it is used. A resumed run is served
from it by prompt digest; equal prompts get their answers in the order in which they were given.
"""

from __future__ import annotations

import codecs
import json
import os
from collections import defaultdict, deque
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Literal

from pydantic import Field

from greenloop.errors import InputError, OutputError
from greenloop.records import Record

Fault = Literal["rate_limit", "server_error", "timeout", "truncated"]


class TokenCount(Record, extra="ignore"):
    """Tokens of one call, as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


class RecordedAnswer(Record, extra="ignore"):
    """One line of a record or replay file; keys that are not known are passed over."""

    tool: str
    answer: str = ""
    prompt_sha256: str | None = None
    model: str | None = None
    usage: TokenCount | None = None
    error: Fault | None = None
    seconds: float | None = Field(default=None, ge=0)


def read_recorded(path: Path, *, torn_tail_allowed: bool = False) -> list[RecordedAnswer]:
    """All answers of a record or replay file.

    Raises:
        InputError: the file cannot be read, or a line is no recorded answer. A last line without
            its end may be torn where `torn_tail_allowed`: a killed run leaves one.
    """
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read as a replay file: {_why(error)}") from None
    found: list[RecordedAnswer] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _entry(line)
        if entry is not None:
            found.append(entry)
        elif not (torn_tail_allowed and number == len(lines)):
            raise InputError(f'{path}:{number} is no line {{"tool": …, "answer": …}}')
    return found


def _entry(line: bytes) -> RecordedAnswer | None:
    try:
        return RecordedAnswer.model_validate(json.loads(line.decode()))
    except (ValueError, RecursionError):
        return None


class AnswerLog:
    """The log of one run, and the answers that it holds from before."""

    def __init__(self, path: Path | None, also: Path | None = None) -> None:
        """Opens (or begins) the log at `path`; `also` gets every new line too (`--record`).

        Raises:
            InputError: the log is there and is no log.
            OutputError: a file cannot be written.
        """
        self._path, self._also = path, also
        self._waiting: defaultdict[tuple[str, str], deque[RecordedAnswer]] = defaultdict(deque)
        self.held = 0
        if path is not None and path.exists():
            self._load(path)
        if also is not None:
            self._begin_record(also)

    def _load(self, path: Path) -> None:
        entries = read_recorded(path, torn_tail_allowed=True)
        try:
            _mend_tail(path)
        except OSError as error:
            raise OutputError(f"the answer log {path} cannot be written: {_why(error)}") from None
        for entry in entries:
            self._waiting[entry.tool, entry.prompt_sha256 or ""].append(entry)
        self.held = len(entries)

    def _begin_record(self, also: Path) -> None:
        try:
            also.parent.mkdir(parents=True, exist_ok=True)
            kept = self._path.read_text("utf-8") if self._path and self._path.exists() else ""
            also.write_text(kept, encoding="utf-8")
        except OSError as error:
            raise OutputError(f"--record {also} cannot be written: {_why(error)}") from None

    def holds(self, tool: str, prompt_sha256: str) -> bool:
        """Whether an answer to this prompt is held."""
        return bool(self._waiting.get((tool, prompt_sha256)))

    def take(self, tool: str, prompt_sha256: str) -> RecordedAnswer | None:
        """The next answer held for this prompt, or None."""
        waiting = self._waiting.get((tool, prompt_sha256))
        return waiting.popleft() if waiting else None

    def append(self, entry: RecordedAnswer) -> None:
        """Puts an answer on disk.

        Raises:
            OutputError: the disk does not take it.
        """
        line = (entry.model_dump_json(exclude_none=True) + "\n").encode()
        for path in (self._path, self._also):
            if path is not None:
                _append(path, line)


def _mend_tail(path: Path) -> None:
    """Cuts a torn last line off; ends one that is whole but for its end."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    tail = content[whole:]
    if tail and _entry(tail) is None:
        os.truncate(path, whole)
    elif tail:
        _append(path, b"\n")


def _append(path: Path, line: bytes) -> None:
    try:
        with open(path, "ab", buffering=0, opener=_private) as file:
            _write_all(file, line)
    except OSError as error:
        raise OutputError(f"the answer log {path} cannot be written: {_why(error)}") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _write_all(file: RawIOBase, line: bytes) -> None:
    """All of a line or nothing: half a line would spoil the one that comes next."""
    before = file.seek(0, os.SEEK_END)
    try:
        left = memoryview(line)
        while left:  # a disk that is nearly full takes a part, and says so only at the next write
            left = left[file.write(left) or 0 :]
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            file.truncate(before)
        raise


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
