"""Log of model answers (`answers.jsonl`): audit trail, recording and checkpoint of a run.

Each line is one answer, written and fsynced before it is used. A resumed run takes its answers from
the log by prompt digest; equal prompts get theirs in the order in which they were logged. Another
version of greenloop has other prompts: its log serves each tool in the order of the file.
"""

import codecs
import json
import os
from collections import defaultdict, deque
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Literal

from pydantic import Field

from greenloop.errors import InputError
from greenloop.files import writing
from greenloop.llm.budget import TokenCount
from greenloop.prompts import Prompt
from greenloop.records import Record

RecordedFault = Literal["rate_limit", "server_error", "timeout", "truncated"]


class RecordedResponse(Record, extra="ignore"):
    """One line of a record or replay file; unknown keys are ignored."""

    tool: str
    answer: str = ""
    prompt_sha256: str | None = None
    model: str | None = None
    usage: TokenCount | None = None
    error: RecordedFault | None = None
    seconds: float | None = Field(default=None, ge=0)


class RecordingHeader(Record, extra="ignore"):
    """Header of a recording: the digest of its specification, and the version of greenloop."""

    specification_sha256: str
    greenloop: str = ""


def read_header(path: Path) -> RecordingHeader | None:
    """Return the header of a replay file; None where its first line is none.

    Raises InputError: the file cannot be read.
    """
    return _parse_header(_read_lines(path)[0])


def load_responses(path: Path, *, allow_torn_tail: bool = False) -> list[RecordedResponse]:
    """Read all answers of a record or replay file.

    Raises InputError: the file cannot be read, or a line is no recorded answer. With
    `allow_torn_tail` an incomplete last line, as a killed run leaves it, is ignored.
    """
    lines = _read_lines(path)
    found: list[RecordedResponse] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and _parse_header(line)):
            continue
        entry = _parse_entry(line)
        if entry is not None:
            found.append(entry)
        elif not (allow_torn_tail and number == len(lines)):
            raise InputError(
                f'{path}:{number} is not a line of the form {{"tool": …, "answer": …}}'
            )
    return found


def _read_lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read as a replay file: {error.strerror or error}"
        ) from None


def _parse_header(line: bytes) -> RecordingHeader | None:
    try:
        return RecordingHeader.model_validate(json.loads(line.decode())["recording"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _parse_entry(line: bytes) -> RecordedResponse | None:
    try:
        return RecordedResponse.model_validate(json.loads(line.decode()))
    except (ValueError, RecursionError):
        return None


def _is_recording(path: Path) -> bool:
    """Return whether a file is empty, or begins like a recording."""
    first = next((line for line in _read_lines(path) if line.strip()), b"")
    return not first or bool(_parse_header(first) or _parse_entry(first))


class ResponseLog:
    """The log of one run, with the answers from before a resume."""

    def __init__(
        self,
        path: Path | None,
        record_path: Path | None = None,
        header: RecordingHeader | None = None,
        *,
        by_prompt: bool = True,
    ) -> None:
        """Open or create the log at `path`; with `record_path` (`--record`) keep a copy there.

        The `header` is the first line of the copy. An existing recording is replaced only when the
        first answer arrives, so that a run that ends earlier does not lose it. Without `by_prompt`
        the answers in the log are served by tool alone.

        Raises:
            InputError: the file at `path` is no log, or the file at `record_path` is no recording.
            OutputError: a file cannot be written.
        """
        self._path, self._record_path, self._by_prompt = path, record_path, by_prompt
        self._header, self._is_recording = header, False
        self._pending: defaultdict[tuple[str, str], deque[RecordedResponse]] = defaultdict(deque)
        self.loaded_count = 0
        if path is not None and path.exists():
            self._load(path)
        if record_path is not None:
            self._check_recording(record_path)
            if self.loaded_count or not record_path.stat().st_size:
                self._start_recording(record_path)

    def _load(self, path: Path) -> None:
        entries = load_responses(path, allow_torn_tail=True)
        with writing(f"the answer log {path}"):
            _repair_tail(path)
        for entry in entries:
            digest = (entry.prompt_sha256 or "") if self._by_prompt else ""
            self._pending[entry.tool, digest].append(entry)
        self.loaded_count = len(entries)

    def _check_recording(self, record_path: Path) -> None:
        if record_path.is_file() and not _is_recording(record_path):
            raise InputError(
                f"--record {record_path} was not written by greenloop; name another file"
            )
        with writing(f"--record {record_path}"):
            record_path.parent.mkdir(parents=True, exist_ok=True)
            record_path.open("ab").close()

    def _start_recording(self, record_path: Path) -> None:
        """Replace the content of the recording by the header and the content of the log."""
        with writing(f"--record {record_path}"):
            kept = self._path.read_text("utf-8") if self._path and self._path.exists() else ""
            header = {"recording": self._header.model_dump()} if self._header else None
            first = json.dumps(header) + "\n" if header else ""
            record_path.write_text(first + kept, encoding="utf-8")
        self._is_recording = True

    def has_response(self, prompt: Prompt) -> bool:
        """Return whether the log holds an unused answer to a prompt."""
        return bool(self._find_pending(prompt))

    def has_response_of(self, tool: str) -> bool:
        """Return whether the log holds an unused answer of a tool, to any prompt."""
        return any(name == tool and found for (name, _), found in self._pending.items())

    def pop_response(self, prompt: Prompt) -> RecordedResponse | None:
        """Remove and return the next unused answer to a prompt; None where there is none."""
        pending = self._find_pending(prompt)
        return pending.popleft() if pending else None

    def _find_pending(self, prompt: Prompt) -> deque[RecordedResponse] | None:
        """Return the unused answers to a prompt; in another version's log, those of its tool."""
        if not self._pending:  # a run that was not resumed needs no digest of a prompt yet
            return None
        return self._pending.get((prompt.tool, prompt.sha256 if self._by_prompt else ""))

    def append(self, entry: RecordedResponse) -> None:
        """Write an answer; `sync` waits until it is on disk.

        Raises OutputError: it cannot be written.
        """
        if self._record_path is not None and not self._is_recording:
            self._start_recording(self._record_path)
        line = (entry.model_dump_json(exclude_none=True) + "\n").encode()
        for path in (self._path, self._record_path):
            if path is not None:
                _append_line(path, line)

    def sync(self) -> None:
        """Wait until all answers are on disk. Raises OutputError where one cannot be written."""
        for path in filter(None, (self._path, self._record_path)):
            with writing(f"the answer log {path}"), path.open("rb") as file:
                os.fsync(file.fileno())


def _repair_tail(path: Path) -> None:
    """Truncate an incomplete last line; terminate one that only lacks its line end."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    tail = content[whole:]
    if tail and _parse_entry(tail) is None:
        os.truncate(path, whole)
    elif tail:
        _append_line(path, b"\n")


def _append_line(path: Path, line: bytes) -> None:
    def create(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    with (
        writing(f"the answer log {path}"),
        open(path, "ab", buffering=0, opener=create) as file,
    ):
        _write_all(file, line)


def _write_all(file: RawIOBase, line: bytes) -> None:
    """Write a whole line or nothing: the next line would be appended to a partial one."""
    before = file.seek(0, os.SEEK_END)
    try:
        rest = memoryview(line)
        while rest:  # an almost full disk takes a part, and fails only at the next write
            rest = rest[file.write(rest) or 0 :]
    except OSError:
        with suppress(OSError):
            file.truncate(before)
        raise
