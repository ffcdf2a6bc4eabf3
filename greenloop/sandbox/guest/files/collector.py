"""Collector of files that a run created in its working folder. Trusts no file, follows no link.

Called after all processes of the run have ended. If that is not certain (no sandbox), a file that
changes meanwhile is reported as it was read.
"""

import contextlib
import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_MAX_ENTRIES, _MAX_REPORTED, _MAX_REASONS, _MAX_DEPTH = 5000, 200, 50, 30
COLLECT_FILES_KEY = "wanted"  # a key of a run's limits, set if its created files are requested
MAX_BYTES = 16 << 20  # of all contents together
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_SPECIAL_FILE_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


@dataclass
class CreatedFiles:
    """Files that a run has created or modified."""

    files: list[dict[str, Any]] = field(default_factory=list)  # {path, size, sha256, kept}
    omitted: list[dict[str, str]] = field(default_factory=list)  # {path, why}
    changed_inputs: list[str] = field(default_factory=list)  # paths of modified inputs
    contents: bytearray = field(default_factory=bytearray)  # of the files that are kept, in order

    def to_summary(self) -> dict[str, Any]:
        """Return everything but the contents."""
        return {"files": self.files, "left_out": self.omitted, "changed": self.changed_inputs}


def collect_created_files(work: str, request: dict[str, Any]) -> CreatedFiles:
    """Collect the files; `request` has `inputs` (size and SHA-256 by path) and `keep` (patterns).

    Files that match a pattern come first.
    """
    found = CreatedFiles()
    inputs: dict[str, tuple[int, str]] = request["inputs"]
    sizes: dict[str, int] = {}
    with contextlib.suppress(OSError):
        _FolderWalk(found, sizes).walk(os.open(work, _FOLDER_FLAGS))
    for path, (size, digest) in inputs.items():
        sizes.pop(path, None)
        if _read_file(work, path, size, None)[1] != digest:
            found.changed_inputs.append(path)
    _add_files(work, found, sizes, request["keep"])
    return found


def _add_files(work: str, created: CreatedFiles, sizes: dict[str, int], keep: list[str]) -> None:
    free_bytes = MAX_BYTES
    chosen = sorted(sizes, key=lambda path: (not _matches(path, keep), path))
    for path in chosen[:_MAX_REPORTED]:
        size = sizes[path]
        content, digest = (
            _read_file(work, path, size, free_bytes) if size <= free_bytes else (None, "")
        )
        if content is None:
            why = "the size limit is reached" if size > free_bytes else "it cannot be read"
            _omit(created, path, f"{size} bytes: {why}")
        else:
            free_bytes -= len(content)
            created.contents += content
            size = len(content)
        created.files.append(
            {"path": path, "size": size, "sha256": digest, "kept": content is not None}
        )
    if len(chosen) > _MAX_REPORTED:
        _omit(created, "…", f"{len(chosen) - _MAX_REPORTED} more files")


def _matches(path: str, keep: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in keep)


def _omit(created: CreatedFiles, path: str, why: str) -> None:
    if len(created.omitted) < _MAX_REASONS:
        created.omitted.append({"path": _escape_name(path), "why": why})


def _escape_name(name: str) -> str:
    """Escape lone surrogates of a name, and truncate it."""
    return name.encode("utf-8", "backslashreplace").decode()[:1000]


def _read_file(work: str, path: str, size: int, max_bytes: int | None) -> tuple[bytes | None, str]:
    """Return a regular file's content (b'' without `max_bytes`) and digest.

    (None, '') if it cannot be read or its size has changed.
    """
    digest, content = hashlib.sha256(), bytearray()
    try:
        with _open_regular_file(work, path) as handle:
            left = size + 1
            while left and (piece := os.read(handle, min(left, 1 << 20))):
                left -= len(piece)
                digest.update(piece)
                if max_bytes is not None:
                    content += piece
    except OSError:
        return None, ""
    return (bytes(content), digest.hexdigest()) if left == 1 else (None, "")


@contextlib.contextmanager
def _open_regular_file(work: str, path: str) -> Iterator[int]:
    """Open a file below the folder, following no link. Raises OSError if it is not regular."""
    *folders, name = path.split("/")
    handle = os.open(work, _FOLDER_FLAGS)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        file = os.open(name, _FILE_FLAGS, dir_fd=handle)
    finally:
        os.close(handle)
    with _closing(file):
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(f"{name} is not a regular file")
        yield file


class _FolderWalk:
    """Walk that records the size of each regular file by path, and omits others with a reason."""

    def __init__(self, created: CreatedFiles, sizes: dict[str, int]) -> None:
        self._created, self._sizes, self._entry_count = created, sizes, 0

    def walk(self, handle: int, prefix: str = "", depth: int = 0) -> None:
        """Add the files of a folder, and close its handle."""
        with _closing(handle), os.scandir(handle) as entries:
            for entry in entries:
                self._entry_count += 1
                if self._entry_count > _MAX_ENTRIES:
                    if self._entry_count == _MAX_ENTRIES + 1:
                        _omit(self._created, "…", f"more than {_MAX_ENTRIES} files and folders")
                    return
                with contextlib.suppress(OSError):
                    self._add_entry(handle, entry.name, prefix, depth)

    def _add_entry(self, handle: int, name: str, prefix: str, depth: int) -> None:
        path = prefix + name
        state = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if _escape_name(name) != name:
            _omit(self._created, path, "its name is not valid text")
        elif stat.S_ISREG(state.st_mode):
            self._sizes[path] = state.st_size
        elif stat.S_ISDIR(state.st_mode):
            self._walk_subfolder(handle, name, path, depth)
        else:
            kinds = (word for is_one, word in _SPECIAL_FILE_KINDS if is_one(state.st_mode))
            _omit(self._created, path, next(kinds, "not a regular file"))

    def _walk_subfolder(self, handle: int, name: str, path: str, depth: int) -> None:
        if depth >= _MAX_DEPTH:
            _omit(self._created, path, f"more than {_MAX_DEPTH} folders deep")
            return
        try:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=handle)
        except OSError:
            _omit(self._created, path, "it cannot be read")
            return
        self.walk(inner, f"{path}/", depth + 1)


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)
