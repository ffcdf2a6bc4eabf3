"""Results of a batch (`results.jsonl`), from which the same command continues."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from greenloop.batch.entries import Entry
from greenloop.errors import OutputError
from greenloop.files import writing
from greenloop.records import Artifacts, Record
from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.records.report import is_enough
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.make.locked_delivery import FORCE_HINT, find_manual_edits, load_lock_or_none
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.lockfile import find_drift, lock_path
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory

RESULTS_FILE = "results.jsonl"
_RESPONSE_BYTES = 64 << 10  # of a long answer
RecordT = TypeVar("RecordT", bound=Record)


def append_line(path: Path, record: Record) -> None:
    """Append a record and fsync; an incomplete last line is terminated first.

    Raises OutputError: the line cannot be written.
    """
    line = record.model_dump_json()
    with writing(path), path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else f"\n{line}"
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path, kind: type[RecordT]) -> Iterator[RecordT]:
    """Yield the records of a file of JSON lines.

    Invalid lines are skipped: the last one is incomplete after a crash or on a full disk.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield kind.model_validate_json(line)
            except (ValidationError, ValueError):
                continue


def add_outcome(totals: BatchTotals, outcome: BatchOutcome) -> BatchTotals:
    """Return the totals with one more outcome; calls of earlier batches are not counted again."""
    new = outcome.kind not in ("unchanged", "refused", "done before")
    good = outcome.exit_status == 0
    counted = {
        "reached": totals.reached + good,
        "verified": totals.verified + (good and outcome.verdict == "verified"),
        "missed": totals.missed + (outcome.exit_status == 1 and outcome.kind != "broken off"),
        "broken_off": totals.broken_off + (outcome.kind == "broken off"),
        "refused": totals.refused + (outcome.kind == "refused"),
        "unchanged": totals.unchanged + (not new and outcome.kind != "refused"),
        "calls": totals.calls + new * outcome.calls,
        "tokens": totals.tokens + new * outcome.tokens,
        "not_run": totals.not_run - 1,
    }
    return totals.model_copy(update={name: int(value) for name, value in counted.items()})


def has_disk_space(folder: Path) -> bool:
    """Return whether the disk has space for a file as large as a long answer."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * _RESPONSE_BYTES)
            file.flush()
    except OSError:
        return False
    return True


def check_output_path(request: RunRequest) -> None:
    """Raise OutputError if the code could not be written, before a model call is paid."""
    try:
        check_output_paths(request)
    except OutputError as error:
        raise OutputError(str(error).removeprefix("--output ")) from None


def find_unchanged_outcome(entry: Entry, settings: Settings) -> BatchOutcome | None:
    """Return the outcome of an entry with code unchanged since a sufficient grade, else None."""
    if entry.output is None or not lock_path(entry.output).exists():
        return None
    lock = load_lock_or_none(lock_path(entry.output))
    if lock is None:
        return None
    reached = is_enough(lock.grade.verdict, settings.require or "passed")
    same = lock.text_sha256 == entry.sha256 and reached
    if not same or find_drift(lock_path(entry.output), lock):
        return None
    return BatchOutcome(
        id=entry.id,
        sha256=entry.sha256,
        kind="unchanged",
        exit_status=0,
        verdict=lock.grade.verdict,
        output=str(entry.output),
    )


def find_refused_outcome(
    entry: Entry, request: MakeRequest, directory: RunDirectory
) -> BatchOutcome | None:
    """Return the outcome of an entry whose files were changed by hand, without a run; else None."""
    edit = next(find_manual_edits(request, directory), None)
    if edit is None:
        return None
    return BatchOutcome(
        id=entry.id,
        sha256=entry.sha256,
        kind="refused",
        exit_status=OutputError.exit_status,
        reason=f"{edit.why}; {FORCE_HINT}",
    )


def list_written_files(entry: Entry, artifacts: Artifacts | None) -> tuple[str, ...]:
    """Return the files written for an entry that reached its requirement."""
    if entry.output is None or artifacts is None:
        return ()
    files = (artifacts.output, artifacts.tests_output, str(lock_path(entry.output).absolute()))
    return tuple(item for item in files if item)
