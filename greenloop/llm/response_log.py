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

RecordedFault = Literal["rate_limit", "server_error", "timeout", "truncated"]


class TokenCount(Record, extra="ignore"):
    """Tokens of one call, as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


class RecordedResponse(Record, extra="ignore"):
    """One line of a record or replay file; keys that are not known are passed over."""

    tool: str
    answer: str = ""
    prompt_sha256: str | None = None
    model: str | None = None
    usage: TokenCount | None = None
    error: RecordedFault | None = None
    seconds: float | None = Field(default=None, ge=0)


def load_responses(path: Path, *, allow_torn_tail: bool = False) -> list[RecordedResponse]:
    """All answers of a record or replay file.

    Raises:
        InputError: the file cannot be read, or a line is no recorded answer. A last line without
            its end may be torn where `torn_tail_allowed`: a killed run leaves one.
    """
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read as a replay file: {_error_text(error)}") from None
    found: list[RecordedResponse] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _parse_entry(line)
        if entry is not None:
            found.append(entry)
        elif not (allow_torn_tail and number == len(lines)):
            raise InputError(f'{path}:{number} is no line {{"tool": …, "answer": …}}')
    return found


def _parse_entry(line: bytes) -> RecordedResponse | None:
    try:
        return RecordedResponse.model_validate(json.loads(line.decode()))
    except (ValueError, RecursionError):
        return None


class ResponseLog:
    """The log of one run, and the answers that it holds from before."""

    def __init__(self, path: Path | None, record_path: Path | None = None) -> None:
        """Opens (or begins) the log at `path`; `also` gets every new line too (`--record`).

        Raises:
            InputError: the log is there and is no log.
            OutputError: a file cannot be written.
        """
        self._path, self._record_path = path, record_path
        self._pending: defaultdict[tuple[str, str], deque[RecordedResponse]] = defaultdict(deque)
        self.loaded_count = 0
        if path is not None and path.exists():
            self._load(path)
        if record_path is not None:
            self._start_recording(record_path)

    def _load(self, path: Path) -> None:
        entries = load_responses(path, allow_torn_tail=True)
        try:
            _repair_tail(path)
        except OSError as error:
            raise OutputError(
                f"the answer log {path} cannot be written: {_error_text(error)}"
            ) from None
        for entry in entries:
            self._pending[entry.tool, entry.prompt_sha256 or ""].append(entry)
        self.loaded_count = len(entries)

    def _start_recording(self, record_path: Path) -> None:
        try:
            record_path.parent.mkdir(parents=True, exist_ok=True)
            kept = self._path.read_text("utf-8") if self._path and self._path.exists() else ""
            record_path.write_text(kept, encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"--record {record_path} cannot be written: {_error_text(error)}"
            ) from None

    def has_response(self, tool: str, prompt_sha256: str) -> bool:
        """Whether an answer to this prompt is held."""
        return bool(self._pending.get((tool, prompt_sha256)))

    def pop_response(self, tool: str, prompt_sha256: str) -> RecordedResponse | None:
        """The next answer held for this prompt, or None."""
        waiting = self._pending.get((tool, prompt_sha256))
        return waiting.popleft() if waiting else None

    def append(self, entry: RecordedResponse) -> None:
        """Puts an answer on disk.

        Raises:
            OutputError: the disk does not take it.
        """
        line = (entry.model_dump_json(exclude_none=True) + "\n").encode()
        for path in (self._path, self._record_path):
            if path is not None:
                _append_line(path, line)


def _repair_tail(path: Path) -> None:
    """Cuts a torn last line off; ends one that is whole but for its end."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    tail = content[whole:]
    if tail and _parse_entry(tail) is None:
        os.truncate(path, whole)
    elif tail:
        _append_line(path, b"\n")


def _append_line(path: Path, line: bytes) -> None:
    try:
        with open(path, "ab", buffering=0, opener=_open_private) as file:
            _write_all(file, line)
    except OSError as error:
        raise OutputError(
            f"the answer log {path} cannot be written: {_error_text(error)}"
        ) from None


def _open_private(path: str, flags: int) -> int:
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


def _error_text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
