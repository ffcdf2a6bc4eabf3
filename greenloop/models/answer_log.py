"""The run's `answers.jsonl`: audit log, recording and checkpoint in one file.

Each line is one model answer, on disk (flushed, fsynced) before it is used. A resumed run is served
from it by prompt digest; equal prompts get their answers in the order in which they were given.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict, deque
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from greenloop.errors import InputError, OutputError
from greenloop.records import Record

Fault = Literal["rate_limit", "server_error", "timeout", "truncated"]


class TokenCount(Record):
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
        InputError: the file cannot be read, or a line is no recorded answer. The last line may
            be torn where `torn_tail_allowed`: a killed run leaves one.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a replay file: {_why(error)}") from None
    found: list[RecordedAnswer] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(RecordedAnswer.model_validate(json.loads(line)))
        except (ValueError, ValidationError):
            if torn_tail_allowed and number == len(lines):
                break
            raise InputError(f'{path}:{number} is no line {{"tool": …, "answer": …}}') from None
    return found


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
        self._drop_torn_tail(path)
        for entry in entries:
            self._waiting[entry.tool, entry.prompt_sha256 or ""].append(entry)
        self.held = len(entries)

    @staticmethod
    def _drop_torn_tail(path: Path) -> None:
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)

    def _begin_record(self, also: Path) -> None:
        try:
            also.parent.mkdir(parents=True, exist_ok=True)
            kept = self._path.read_text("utf-8") if self._path and self._path.exists() else ""
            also.write_text(kept, encoding="utf-8")
        except OSError as error:
            raise OutputError(f"--record {also} cannot be written: {_why(error)}") from None

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


def _append(path: Path, line: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise OutputError(f"the answer log {path} cannot be written: {_why(error)}") from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
