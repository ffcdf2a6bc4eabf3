"""List of the runs below a folder, with text, verdict, age and size, and removal of old ones."""

import json
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.dependencies import PackageStore
from greenloop.errors import InputError
from greenloop.records.report import ENDED_EARLY
from greenloop.workflow.storage.run_dir import RunDirectory

_DAY_S = 86_400


@dataclass(frozen=True)
class KeptRun:
    """A run directory; `verdict` is '' if the run has not ended."""

    path: Path
    kind: str
    text: str  # the specification, or the module
    verdict: str
    changed: float  # time of the last change, in seconds since the epoch
    size: int  # bytes
    can_resume: bool


@dataclass(frozen=True)
class Removable:
    """A run that `runs --prune` removes."""

    path: Path
    size: int

    def remove(self) -> None:
        """Remove the folder. Raises InputError: a process works on the run."""
        with RunDirectory(self.path).lock():
            shutil.rmtree(self.path, ignore_errors=True)


@dataclass(frozen=True)
class RemovablePackages(Removable):
    """A package set of the cache, which all projects of the user share."""

    def remove(self) -> None:
        PackageStore(self.path.parent).remove(self.path)


def list_runs(home: Path) -> list[KeptRun]:
    """Return the runs below a folder, the latest first."""
    found = (_read_run(path.parent) for path in (home / "runs").glob("*/run.json"))
    return sorted((item for item in found if item), key=lambda item: item.changed, reverse=True)


def find_interrupted_run(home: Path, *, has_answers: bool = False) -> Path:
    """Return the latest run that can be resumed and that no process works on.

    With `has_answers`, ended runs with open choices count, too. Raises InputError: there is none.
    """
    runs = (
        item.path
        for item in list_runs(home)
        if item.can_resume or (has_answers and RunDirectory(item.path).choices_file.exists())
    )
    found = next((path for path in runs if not _is_active(path)), None)
    if found is None:
        raise InputError(f"no run in {home / 'runs'} was interrupted; name a run directory")
    return found


def _is_active(path: Path) -> bool:
    try:
        with RunDirectory(path).lock():
            return False
    except (InputError, OSError):
        return True


def find_old_folders(home: Path, days: float) -> Iterator[Removable]:
    """Yield the runs, if no process works on them, and package sets not used for some days."""
    oldest = time.time() - days * _DAY_S
    for item in list_runs(home):
        if item.changed < oldest and not _is_active(item.path):
            yield Removable(item.path, item.size)
    for folder in PackageStore().list_folders():
        # Each use reads the manifest in the folder, so the last access is the last use.
        if max(item.stat().st_atime for item in folder.iterdir()) < oldest:
            yield RemovablePackages(folder, _measure(folder))


def remove(home: Path, days: float, folders: Collection[Removable]) -> Iterator[Removable]:
    """Remove those of the folders that are still old and unused, and yield them."""
    paths = {item.path for item in folders}
    for item in find_old_folders(home, days):
        if item.path in paths:
            with suppress(InputError):
                item.remove()
                yield item


def _read_run(folder: Path) -> KeptRun | None:
    """Return a run, or None if its request cannot be read."""
    request, report = _read(folder / "run.json"), _read(folder / "report.json")
    if not request:
        return None
    text, kind = str(request.get("specification") or ""), str(request.get("kind"))
    ended_early = any(str(item).startswith(ENDED_EARLY) for item in report.get("reasons", ()))
    original = request.get("original") or {}
    name = text or request.get("module") or Path(str(original.get("path", ""))).name
    is_check = kind == "check" and not text
    files = [folder / item for item in ("run.json", "answers.jsonl", "report.json")]
    return KeptRun(
        path=folder,
        kind=kind,
        text=str(name),
        verdict="" if ended_early else str(report.get("verdict", "")),
        changed=max(item.stat().st_mtime for item in files if item.exists()),
        size=_measure(folder),
        can_resume=not is_check and (not report or ended_early),
    )


def _read(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        value = json.loads(path.read_bytes())
        return value if isinstance(value, dict) else {}
    return {}


def _measure(folder: Path) -> int:
    return sum(item.lstat().st_size for item in folder.rglob("*") if item.is_file())
