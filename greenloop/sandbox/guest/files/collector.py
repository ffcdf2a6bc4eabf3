"""What a run has made in its working folder. Nothing of it is trusted, no link is followed.

Called when everybody who could still change it has ended; where that is not certain (no sandbox),
what changes meanwhile is merely told as it was when it was looked at.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_MOST_SEEN, _MOST_TOLD, _MOST_REASONS, _DEEPEST = 5000, 200, 50, 30
WANTED = "wanted"  # stands among the limits of a run of which what it makes is asked for
MOST_BYTES = 16 << 20  # of all contents together
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


@dataclass
class Made:
    """`files` {path, size, sha256, kept}, the last whether `contents` has it, one after the other;
    `left_out` {path, why}; `changed` are inputs that are not what they were.
    """

    files: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    contents: bytearray = field(default_factory=bytearray)

    def account(self) -> dict[str, Any]:
        """All but the contents."""
        return {"files": self.files, "left_out": self.left_out, "changed": self.changed}


def collect(work: str, wanted: dict[str, Any]) -> Made:
    """`wanted`: `inputs` (size and SHA-256 by path) and `keep` (patterns of what comes first)."""
    found = Made()
    inputs: dict[str, tuple[int, str]] = wanted["inputs"]
    sizes: dict[str, int] = {}
    with contextlib.suppress(OSError):
        _Walk(found, sizes).through(os.open(work, _FOLDER))
    for path, (size, digest) in inputs.items():
        sizes.pop(path, None)
        if _read(work, path, size, None)[1] != digest:
            found.changed.append(path)
    _take_in(work, found, sizes, wanted["keep"])
    return found


def _take_in(work: str, found: Made, sizes: dict[str, int], keep: list[str]) -> None:
    room = MOST_BYTES
    chosen = sorted(sizes, key=lambda path: (not _matches(path, keep), path))
    for path in chosen[:_MOST_TOLD]:
        size = sizes[path]
        content, digest = _read(work, path, size, room) if size <= room else (None, "")
        if content is None:
            why = "there is no room for it" if size > room else "it cannot be read"
            _leave_out(found, path, f"{size} bytes: {why}")
        else:
            room -= len(content)
            found.contents += content
            size = len(content)
        found.files.append(
            {"path": path, "size": size, "sha256": digest, "kept": content is not None}
        )
    if len(chosen) > _MOST_TOLD:
        _leave_out(found, "…", f"{len(chosen) - _MOST_TOLD} more files")


def _matches(path: str, keep: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in keep)


def _leave_out(found: Made, path: str, why: str) -> None:
    if len(found.left_out) < _MOST_REASONS:
        found.left_out.append({"path": _plain(path), "why": why})


def _plain(name: str) -> str:
    """A name that every reader takes."""
    return name.encode("utf-8", "backslashreplace").decode()[:1000]


def _read(work: str, path: str, size: int, room: int | None) -> tuple[bytes | None, str]:
    """A regular file's content (b'' where no room is asked for) and digest; (None, '') where it
    cannot be read, or is no longer as long as it was.
    """
    digest, content = hashlib.sha256(), bytearray()
    try:
        with _opened(work, path) as handle:
            left = size + 1
            while left and (piece := os.read(handle, min(left, 1 << 20))):
                left -= len(piece)
                digest.update(piece)
                if room is not None:
                    content += piece
    except OSError:
        return None, ""
    return (bytes(content), digest.hexdigest()) if left == 1 else (None, "")


@contextlib.contextmanager
def _opened(work: str, path: str) -> Iterator[int]:
    """A file below the folder, along no link. Raises OSError where it is not a regular one."""
    *folders, name = path.split("/")
    handle = os.open(work, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        file = os.open(name, _FILE, dir_fd=handle)
    finally:
        os.close(handle)
    with _held(file):
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(f"{name} is no regular file")
        yield file


class _Walk:
    """Sizes of all regular files by path; what else there is, is left out."""

    def __init__(self, found: Made, sizes: dict[str, int]) -> None:
        self._found, self._sizes, self._seen = found, sizes, 0

    def through(self, handle: int, above: str = "", depth: int = 0) -> None:
        """Takes the handle of a folder."""
        with _held(handle), os.scandir(handle) as entries:
            for entry in entries:
                self._seen += 1
                if self._seen > _MOST_SEEN:
                    if self._seen == _MOST_SEEN + 1:
                        _leave_out(self._found, "…", f"more than {_MOST_SEEN} files and folders")
                    return
                with contextlib.suppress(OSError):
                    self._look_at(handle, entry.name, above, depth)

    def _look_at(self, handle: int, name: str, above: str, depth: int) -> None:
        path = above + name
        state = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if _plain(name) != name:
            _leave_out(self._found, path, "its name is no text")
        elif stat.S_ISREG(state.st_mode):
            self._sizes[path] = state.st_size
        elif stat.S_ISDIR(state.st_mode):
            self._go_into(handle, name, path, depth)
        else:
            kinds = (word for is_one, word in _KINDS if is_one(state.st_mode))
            _leave_out(self._found, path, next(kinds, "no regular file"))

    def _go_into(self, handle: int, name: str, path: str, depth: int) -> None:
        if depth >= _DEEPEST:
            _leave_out(self._found, path, f"more than {_DEEPEST} folders deep")
            return
        try:
            inner = os.open(name, _FOLDER, dir_fd=handle)
        except OSError:
            _leave_out(self._found, path, "it cannot be read")
            return
        self.through(inner, f"{path}/", depth + 1)


@contextlib.contextmanager
def _held(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)
