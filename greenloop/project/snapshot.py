"""Snapshots of a user's folder: limited in size, without secrets and links out of the folder."""

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.errors import InputError
from greenloop.project.exclusions import (
    explain_content_exclusion,
    explain_file_exclusion,
    explain_folder_exclusion,
)
from greenloop.records import InputFile, Project
from greenloop.sandbox.work.file_layout import MAX_BYTES, MAX_FILES, format_mb

_MAX_FILES_SEEN = 50_000  # ends the scan, as `max_files` is exceeded by far
_MAX_LISTED = 5
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)


def take_snapshot(
    root: Path,
    targets: Sequence[str] = (),
    *,
    max_bytes: int = MAX_BYTES,
    max_files: int = MAX_FILES,
    only: Collection[str] | None = None,
) -> Project:
    """Read a folder without version control, environments, caches, builds and secrets.

    `targets` are test files or folders, relative to the root; `only` are the files to read, None
    for all. Links are followed only to files in the root. Excluded files that may matter are
    listed in `Project.left_out`.
    Raises InputError: the folder cannot be read, or is too large (with its largest entries).
    """
    root = root.resolve()
    check_folder(root)
    seen = _FolderScan(str(root))
    if only is None:
        seen.walk("")
    else:
        seen.visit_listed(only)
    total = sum(seen.sizes.values())
    if len(seen.sizes) > max_files or total > max_bytes:
        raise InputError(_describe_excess(root, seen, max_bytes, max_files))
    files = tuple(seen.read_files())
    return Project(files=files, targets=tuple(targets), left_out=tuple(seen.left_out))


def check_folder(root: Path) -> None:
    """Raise InputError if the path is not a folder."""
    if not root.is_dir():
        kind = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {kind}; name a folder")


@dataclass
class _FolderScan:
    """Scan of a folder: sizes of the files to copy, and reasons why others are excluded."""

    root: str
    sizes: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def walk(self, above: str) -> None:
        """Visit all files below a folder; `above` is its path with a slash, or ''."""
        try:
            names = sorted(os.listdir(f"{self.root}/{above}"))
        except OSError as error:
            if not above:
                raise InputError(
                    f"the folder cannot be read: {self.root}: {error.strerror}"
                ) from None
            self._exclude(above, "it cannot be read")
            return
        for name in names:
            if len(self.sizes) <= _MAX_FILES_SEEN:
                self._visit(above + name)

    def visit_listed(self, paths: Collection[str]) -> None:
        """Visit the listed files that exist and are not in an excluded folder."""
        folders = {str(folder) for path in paths for folder in Path(path).parents} - {"."}
        reasons = {item: self._explain_folder(item) for item in sorted(folders)}
        for folder, why in reasons.items():
            if why:
                self._exclude(f"{folder}/", why)
        for path in sorted(paths):
            full_path = f"{self.root}/{path}"
            is_folder = os.path.isdir(full_path) and not os.path.islink(full_path)  # a submodule
            is_excluded = any(reasons.get(str(folder)) for folder in Path(path).parents)
            if os.path.lexists(full_path) and not is_folder and not is_excluded:
                self._visit(path)

    def _explain_folder(self, path: str) -> str:
        full_path = f"{self.root}/{path}"
        is_link = os.path.islink(full_path)
        return "it is a link" if is_link else explain_folder_exclusion(path, full_path)

    def _visit(self, path: str) -> None:
        full_path = f"{self.root}/{path}"
        try:
            state = os.lstat(full_path)
            if stat.S_ISLNK(state.st_mode):
                state = self._resolve_link(full_path)
        except OSError:
            self._exclude(path, "it cannot be read")
            return
        if _escape(path) != path:
            self._exclude(path, "its name is not valid text")
        elif stat.S_ISDIR(state.st_mode):
            why = explain_folder_exclusion(path, full_path)
            self._exclude(f"{path}/", why) if why else self.walk(f"{path}/")
        elif stat.S_ISREG(state.st_mode):
            why = explain_file_exclusion(path)
            if why:
                self._exclude(path, why)
            else:
                self.sizes[path] = state.st_size
        else:
            self._exclude(path, "it is not a regular file, or it is a link that is not followed")

    def _resolve_link(self, full_path: str) -> os.stat_result:
        """Return the status of a link's target if that is in the snapshot, else of the link."""
        there = os.path.realpath(full_path)
        within = os.path.relpath(there, self.root)
        state = os.stat(there)
        is_excluded = explain_file_exclusion(within) or any(
            explain_folder_exclusion(str(folder), f"{self.root}/{folder}")
            for folder in list(Path(within).parents)[:-1]
        )
        leaves_root = within.startswith("..") or os.path.isabs(within)
        if leaves_root or is_excluded or not stat.S_ISREG(state.st_mode):
            return os.lstat(full_path)
        return state

    def _exclude(self, path: str, reason: str) -> None:
        if not reason.startswith("it is generated again"):
            self.left_out.append(f"{_escape(path)}: {reason}")

    def read_files(self) -> Iterator[InputFile]:
        """Yield the files of the scan, without unreadable ones and private keys."""
        for path, size in self.sizes.items():
            content = _read_content(os.path.realpath(f"{self.root}/{path}"), size)
            if content is None:
                self._exclude(path, "it cannot be read")
            elif why := explain_content_exclusion(path, content):
                self._exclude(path, why)
            else:
                yield InputFile(path=path, content=content)


def _read_content(path: str, size: int) -> bytes | None:
    """Return a file's content; None if it cannot be read or has grown since the scan."""
    try:
        with open(os.open(path, _FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(size + 1)
    except OSError:
        return None
    return content if len(content) <= size else None


def _escape(path: str) -> str:
    """Escape the undecodable bytes of a path."""
    return path.encode("utf-8", "backslashreplace").decode()


def _describe_excess(root: Path, scan: _FolderScan, max_bytes: int, max_files: int) -> str:
    """Return the error message with the size of the folder and its largest entries."""
    total, count = sum(scan.sizes.values()), len(scan.sizes)
    many = "more than " if count > _MAX_FILES_SEEN else ""
    is_large, by_place = total > max_bytes, Counter[str]()
    for path, size in scan.sizes.items():
        top, slash, _ = path.partition("/")
        by_place[top + slash] += size if is_large else 1
    largest = (
        f"{name} ({format_mb(amount) if is_large else f'{amount} files'})"
        for name, amount in by_place.most_common(_MAX_LISTED)
    )
    return (
        f"{root} is too large for a sandbox: {many}{count} files, {format_mb(total)}; the limit is "
        f"{max_files} files and {format_mb(max_bytes)}. Largest: {', '.join(largest)}. "
        "Name a smaller folder, or have git ignore what the tests do not need"
    )
