"""Delivery of code and tests with a lock file, which protects files edited by hand."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.records import Report
from greenloop.workflow.delivery import back_up_original, deliver, resolve_tests_output
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.lockfile import (
    Lock,
    build_lock,
    digest_text,
    load_lock,
    lock_path,
    save_lock,
)
from greenloop.workflow.storage.request import digest
from greenloop.workflow.storage.run_dir import RunDirectory

FORCE_HINT = "--force overwrites it and keeps a copy"


@dataclass(frozen=True)
class ManualEdit:
    """A file not to be replaced, as greenloop did not write its present text, and the reason."""

    path: Path
    why: str


def deliver_locked(
    report: Report, request: MakeRequest, directory: RunDirectory, *, force: bool
) -> Report:
    """Write code, tests and lock file. With `force`, edited files are copied to the run directory.

    Raises:
        OutputError: one of them cannot be written, or was edited by hand; `report` is set.
    """
    assert request.output is not None
    output = Path(request.output)
    try:
        for edit in find_manual_edits(request, directory):
            if not force:
                raise OutputError(f"{edit.why}; {FORCE_HINT}")
            back_up_original(directory, edit.path)
        report = deliver(report, request)
        directory.save_report(report)
        if report.artifacts.output:
            source = Path(request.source) if request.source else None
            text = digest_text(request.specification, request.given)
            save_lock(lock_path(output), build_lock(report, text, source, output))
    except OutputError as error:
        error.report = error.report or report
        raise
    return report


def find_manual_edits(
    request: MakeRequest, directory: RunDirectory | None = None
) -> Iterator[ManualEdit]:
    """Yield existing files that may not be replaced.

    A file may be replaced if a lock has its digest, or if this run wrote it and ended before it
    wrote the lock.
    """
    if request.output is None:
        return
    best = directory.best_dir.glob("*.py") if directory else ()
    own = {path.read_text("utf-8") for path in best}
    lock, folder = load_lock_or_none(lock_path(Path(request.output))), Path(request.output).parent
    files = (lock.code, *lock.tests) if lock else ()
    locked = {(folder / item.path).resolve(): item.sha256 for item in files}
    for name in filter(None, (request.output, resolve_tests_output(request))):
        path = Path(name)
        text, sha256 = _read_text_or_none(path), locked.get(path.resolve())
        if text is not None and digest(text) != sha256 and text not in own:
            what = "was edited since it was graded" if sha256 else "was not written by greenloop"
            yield ManualEdit(path, f"{os.path.relpath(path)} {what}")


def load_lock_or_none(path: Path) -> Lock | None:
    """Return a lock; None if it is missing or unreadable."""
    try:
        return load_lock(path)
    except InputError:
        return None


def _read_text_or_none(path: Path) -> str | None:
    """Return a file's text, None without a file, '' if it is no text, so not greenloop's."""
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        return ""
