"""Whether files can be laid out in a run's folder as they are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from greenloop.errors import InputError
from greenloop.sandbox.limits import Limits

MOST_BYTES, MOST_FILES = 32 << 20, 2000
_MOST_NAME, _MOST_PATH = 255, 1000


def check_layout(files: Sequence[tuple[str, bytes]], limits: Limits, more_bytes: int = 0) -> None:
    """`files` are (path, content), `more_bytes` what else takes room.

    Half of a run's room for files is left to what it makes itself.

    Raises:
        InputError: a path leads out of the folder or cannot be one, two files are in each other's
            way, or all together are too much.
    """
    paths = [path for path, _ in files]
    for path in paths:
        check_path(path)
    _check_each_other(paths)
    _check_size(files, limits, more_bytes)


def check_path(path: str) -> None:
    """Raises InputError where it is not relative, or leads elsewhere."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise InputError(f"not a path within the working folder: {path!r}")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        raise InputError(f"not a path in UTF-8: {path!r}") from None
    if max(sizes) > _MOST_NAME or len(path.encode()) > _MOST_PATH:
        raise InputError(f"a path is too long: {path[:100]!r}…")


def _check_each_other(paths: list[str]) -> None:
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise InputError(f"two files of the path {path!r}")
        seen.add(path)
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if str(folder) in seen:
                raise InputError(f"{str(folder)!r} is both a file and the folder of {path!r}")


def _check_size(files: Sequence[tuple[str, bytes]], limits: Limits, more_bytes: int) -> None:
    most_files = min(MOST_FILES, limits.inodes // 2)
    if len(files) > most_files:
        raise InputError(f"{len(files)} files; at most {most_files} go into a run")
    most_bytes = min(MOST_BYTES, limits.disk_bytes // 2)
    total = sum(len(content) for _, content in files) + more_bytes
    if total > most_bytes:
        raise InputError(
            f"{mb(total)} of files; at most {mb(most_bytes)} go into a run{_most(files)}"
        )
    for path, content in files:
        if len(content) > limits.file_bytes:
            raise InputError(
                f"{path} has {mb(len(content))}; a file may have {mb(limits.file_bytes)}"
            )


def _most(files: Sequence[tuple[str, bytes]]) -> str:
    largest = sorted(files, key=lambda item: len(item[1]), reverse=True)[:3]
    named = ", ".join(f"{path} ({mb(len(content))})" for path, content in largest)
    return f"; the largest: {named}" if named else ""


def mb(size: int) -> str:
    return f"{size / (1 << 20):.1f} MB"
