"""Work of a person's that a batch must not write over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.errors import InputError
from greenloop.workflow.delivery import resolve_tests_output
from greenloop.workflow.storage.lockfile import Lock, load_lock, lock_path
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory


def find_manual_edit(entry: Entry, request: RunRequest, directory: RunDirectory) -> str:
    """Why what is there may not be replaced; '' where it may.

    It may where a lock says that it was made here, or where the entry's own run made it and did not
    come to write its lock.
    """
    if entry.output is None:
        return ""
    lock = _load_lock_or_none(lock_path(entry.output))
    own = {path.read_text("utf-8") for path in directory.best_dir.glob("*.py")}
    for what, path, sha256 in _files_to_replace(entry.output, lock, request):
        text = _read_text_or_none(path)
        if text is None or digest(text) == sha256 or text in own:
            continue
        if sha256:
            return f"the {what} changed by hand since the grading: {_relative_path(path)}"
        return f"the {what} there already, and no lock file says by whom: {_relative_path(path)}"
    return ""


def _files_to_replace(
    output: Path, lock: Lock | None, request: RunRequest
) -> Iterator[tuple[str, Path, str]]:
    """What would be written over, with the digest of what was left there ('' where nobody knows)."""
    tests = resolve_tests_output(request)
    known = dict(_locked_digests(output.absolute().parent, lock))
    for what, path in (("code was", output), ("tests were", Path(tests) if tests else None)):
        if path is not None:
            yield what, path, known.get(path.resolve(), "")


def _locked_digests(folder: Path, lock: Lock | None) -> Iterator[tuple[Path, str]]:
    for item in (lock.code, *lock.tests) if lock else ():
        yield (folder / item.path).resolve(), item.sha256


def _load_lock_or_none(path: Path) -> Lock | None:
    try:
        return load_lock(path)
    except InputError:
        return None


def _read_text_or_none(path: Path) -> str | None:
    """None where there is nothing; what cannot be read as text is somebody's work too."""
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def _relative_path(path: Path) -> str:
    """As it is typed from the working folder."""
    return os.path.relpath(path)
