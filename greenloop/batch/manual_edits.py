"""Work of a person's that a batch must not write over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.errors import InputError
from greenloop.workflow.delivery import tests_place
from greenloop.workflow.storage.lockfile import Lock, load_lock, lock_path
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory


def by_hand(entry: Entry, request: RunRequest, directory: RunDirectory) -> str:
    """Why what is there may not be replaced; '' where it may.

    It may where a lock says that it was made here, or where the entry's own run made it and did not
    come to write its lock.
    """
    if entry.output is None:
        return ""
    lock = _lock(lock_path(entry.output))
    own = {path.read_text("utf-8") for path in directory.best.glob("*.py")}
    for what, path, sha256 in _files(entry.output, lock, request):
        text = _text(path)
        if text is None or digest(text) == sha256 or text in own:
            continue
        if sha256:
            return f"the {what} changed by hand since the grading: {_near(path)}"
        return f"the {what} there already, and no lock file says by whom: {_near(path)}"
    return ""


def _files(output: Path, lock: Lock | None, request: RunRequest) -> Iterator[tuple[str, Path, str]]:
    """What would be written over, with the digest of what was left there ('' where nobody knows)."""
    tests = tests_place(request)
    known = dict(_locked(output.absolute().parent, lock))
    for what, path in (("code was", output), ("tests were", Path(tests) if tests else None)):
        if path is not None:
            yield what, path, known.get(path.resolve(), "")


def _locked(folder: Path, lock: Lock | None) -> Iterator[tuple[Path, str]]:
    for item in (lock.code, *lock.tests) if lock else ():
        yield (folder / item.path).resolve(), item.sha256


def _lock(path: Path) -> Lock | None:
    try:
        return load_lock(path)
    except InputError:
        return None


def _text(path: Path) -> str | None:
    """None where there is nothing; what cannot be read as text is somebody's work too."""
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def _near(path: Path) -> str:
    """As it is typed from the working folder."""
    return os.path.relpath(path)
