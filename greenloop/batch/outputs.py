"""Files that a batch writes, and the outcomes of entries whose files are unchanged or edited."""

from __future__ import annotations

from greenloop.batch.entries import Entry
from greenloop.errors import OutputError
from greenloop.records import Artifacts
from greenloop.records.batch import BatchOutcome
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.locked_delivery import FORCE_HINT, find_manual_edits, load_lock_or_none
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.lockfile import find_drift, lock_path
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


def check_output_path(request: RunRequest) -> None:
    """Raise OutputError where the code could not be written, before a model call is paid."""
    try:
        check_output_paths(request)
    except OutputError as error:
        raise OutputError(str(error).removeprefix("--output ")) from None


def find_unchanged_outcome(entry: Entry, settings: Settings) -> BatchOutcome | None:
    """Return the outcome of an entry whose code is unchanged since a sufficient grade, else None."""
    if entry.output is None or not lock_path(entry.output).exists():
        return None
    lock = load_lock_or_none(lock_path(entry.output))
    if lock is None:
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
