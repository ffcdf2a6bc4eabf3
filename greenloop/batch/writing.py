"""What a batch writes beside its code, and what it finds there: nothing is made that is there."""

from __future__ import annotations

from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.errors import InputError
from greenloop.records import BatchOutcome, Report
from greenloop.settings import Settings
from greenloop.way.leaving import deliver
from greenloop.way.locking import drifted, load_lock, lock_of, lock_path, save_lock
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory


def handed_over(
    report: Report, entry: Entry, request: RunRequest, directory: RunDirectory
) -> Report:
    """Code, tests and lock file written where they were asked for.

    Raises:
        OutputError: one of them cannot be written.
    """
    assert entry.output is not None
    report = deliver(report, request, lambda _path, _text: True)
    directory.save_report(report)
    source = Path(entry.source) if Path(entry.source).is_file() else None
    lock = lock_of(report, entry.sha256, source, entry.output)
    save_lock(lock_path(entry.output), lock)
    return report


def unchanged(entry: Entry, settings: Settings) -> BatchOutcome | None:
    """Its code is there as it was graded, and the grade is what is asked for."""
    if entry.output is None or not lock_path(entry.output).exists():
        return None
    try:
        lock = load_lock(lock_path(entry.output))
    except InputError:
        return None
    enough = ("verified",) if settings.require == "verified" else ("verified", "passed")
    same = lock.text_sha256 == entry.sha256 and lock.grade.verdict in enough
    if not same or drifted(lock_path(entry.output), lock):
        return None
    return BatchOutcome(
        id=entry.id,
        sha256=entry.sha256,
        kind="unchanged",
        exit_status=0,
        verdict=lock.grade.verdict,
        output=str(entry.output),
    )
