"""Files that a batch writes: their delivery, and the protection of unchanged and edited ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.errors import InputError, OutputError
from greenloop.records import Artifacts, BatchOutcome, Report
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths, deliver, resolve_tests_output
from greenloop.workflow.storage.lockfile import (
    Lock,
    build_lock,
    find_drift,
    load_lock,
    lock_path,
    save_lock,
)
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory


def deliver_entry(
    report: Report, entry: Entry, request: RunRequest, directory: RunDirectory, *, force: bool
) -> Report:
    """Write code, tests and lock file to the entry's output.

    Raises:
        OutputError: one of them cannot be written, or was changed by hand. It has the run's report.
    """
    assert entry.output is not None
    try:
        if not force and (why := find_manual_edit(entry, request, directory)):
            raise OutputError(f"{why}; --force writes over it")
        report = deliver(report, request)
        directory.save_report(report)
        source = Path(entry.source) if Path(entry.source).is_file() else None
        lock = build_lock(report, entry.sha256, source, entry.output)
        save_lock(lock_path(entry.output), lock)
    except OutputError as error:
        error.report = error.report or report
        raise
    return report


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
    lock = _load_lock_or_none(lock_path(entry.output))
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
    entry: Entry, request: RunRequest, directory: RunDirectory
) -> BatchOutcome | None:
    """Return the outcome of an entry whose files were changed by hand, without a run; else None."""
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
    """Return the files written for an entry that reached its requirement."""
    if entry.output is None or artifacts is None:
        return ()
    files = (artifacts.output, artifacts.tests_output, str(lock_path(entry.output).absolute()))
    return tuple(item for item in files if item)


def find_manual_edit(entry: Entry, request: RunRequest, directory: RunDirectory) -> str:
    """Return why existing files may not be replaced; '' where they may.

    They may where a lock says that greenloop wrote them, or where the entry's own run wrote them
    and ended before its lock was written.
    """
    if entry.output is None:
        return ""
    lock = _load_lock_or_none(lock_path(entry.output))
    own = {path.read_text("utf-8") for path in directory.best_dir.glob("*.py")}
    for what, path, sha256 in _find_replaced_files(entry.output, lock, request):
        text = _read_text_or_none(path)
        if text is None or digest(text) == sha256 or text in own:
            continue
        if sha256:
            return f"the {what} changed by hand since the grading: {os.path.relpath(path)}"
        return f"the {what} there already, and no lock file says by whom: {os.path.relpath(path)}"
    return ""


def _find_replaced_files(
    output: Path, lock: Lock | None, request: RunRequest
) -> Iterator[tuple[str, Path, str]]:
    """Yield the files that would be replaced, with their locked digests ('' without a lock)."""
    tests = resolve_tests_output(request)
    folder = output.absolute().parent
    locked = (lock.code, *lock.tests) if lock else ()
    known = {(folder / item.path).resolve(): item.sha256 for item in locked}
    for what, path in (("code was", output), ("tests were", Path(tests) if tests else None)):
        if path is not None:
            yield what, path, known.get(path.resolve(), "")


def _load_lock_or_none(path: Path) -> Lock | None:
    try:
        return load_lock(path)
    except InputError:
        return None


def _read_text_or_none(path: Path) -> str | None:
    """Return a file's text, None without a file; '' where it is not text, which the user made."""
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        return ""
