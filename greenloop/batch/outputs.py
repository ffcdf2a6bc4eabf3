"""What a batch writes beside its code, and what it finds there: nothing is made that is there."""

from __future__ import annotations

from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.batch.manual_edits import find_manual_edit
from greenloop.errors import InputError, OutputError
from greenloop.records import Artifacts, BatchOutcome, Report
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths, deliver
from greenloop.workflow.storage.lockfile import (
    build_lock,
    find_drift,
    load_lock,
    lock_path,
    save_lock,
)
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


def deliver_entry(
    report: Report, entry: Entry, request: RunRequest, directory: RunDirectory, *, force: bool
) -> Report:
    """Code, tests and lock file written where they were asked for.

    Raises:
        OutputError: one of them cannot be written, or somebody changed it in the meantime. It has
            the run's report, which was paid for all the same.
    """
    assert entry.output is not None
    try:
        if not force and (why := find_manual_edit(entry, request, directory)):
            raise OutputError(f"{why}; --force writes over it")
        report = deliver(report, request, lambda _path, _text: True)
        directory.save_report(report)
        source = Path(entry.source) if Path(entry.source).is_file() else None
        lock = build_lock(report, entry.sha256, source, entry.output)
        save_lock(lock_path(entry.output), lock)
    except OutputError as error:
        error.report = error.report or report
        raise
    return report


def check_output_path(request: RunRequest) -> None:
    """Raises OutputError where the code could not be written: before anything is paid for it."""
    try:
        check_output_paths(request)
    except OutputError as error:
        raise OutputError(str(error).removeprefix("--output ")) from None


def find_unchanged_outcome(entry: Entry, settings: Settings) -> BatchOutcome | None:
    """Its code is there as it was graded, and the grade is what is asked for."""
    if entry.output is None or not lock_path(entry.output).exists():
        return None
    try:
        lock = load_lock(lock_path(entry.output))
    except InputError:
        return None
    enough = ("verified",) if settings.require == "verified" else ("verified", "passed")
    same = lock.text_sha256 == entry.sha256 and lock.grade.verdict in enough
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
    entry: Entry, request: RunRequest, directory: RunDirectory
) -> BatchOutcome | None:
    """What a person changed is not written over, and nothing is paid for what would do so."""
    why = find_manual_edit(entry, request, directory)
    if not why:
        return None
    return BatchOutcome(
        id=entry.id,
        sha256=entry.sha256,
        kind="refused",
        exit_status=OutputError.exit_status,
        reason=f"{why}; --force writes over it",
    )


def written_files(entry: Entry, artifacts: Artifacts | None) -> tuple[str, ...]:
    """Code, tests and lock file of an entry that reached what was asked for."""
    if entry.output is None or artifacts is None:
        return ()
    files = (artifacts.output, artifacts.tests_output, str(lock_path(entry.output).absolute()))
    return tuple(item for item in files if item)
