"""Files of a run's working folder: checks of input files, safe names of created files."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from greenloop.errors import InputError
from greenloop.sandbox.limits import ResourceLimits

MAX_BYTES, MAX_FILES = 32 << 20, 2000
_MAX_NAME_BYTES, _MAX_PATH_BYTES = 255, 1000


def check_layout(
    files: Sequence[tuple[str, bytes]], limits: ResourceLimits, extra_bytes: int = 0
) -> None:
    """Check that (path, content) pairs can be written, and `extra_bytes` in addition.

    Half of the disk limit is left for files that the run creates.
    Raises InputError if a path is invalid or leads out of the folder, two paths conflict, or the
    files are too many or too large.
    """
    paths = [path for path, _ in files]
    for path in paths:
        check_path(path)
    _check_conflicts(paths)
    _check_size(files, limits, extra_bytes)


def check_path(path: str) -> None:
    """Check that a path is relative and within the folder. Raises InputError."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise InputError(f"not a path within the working folder: {path!r}")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        raise InputError(f"not a path in UTF-8: {path!r}") from None
    if max(sizes) > _MAX_NAME_BYTES or len(path.encode()) > _MAX_PATH_BYTES:
        raise InputError(f"a path is too long: {path[:100]!r}…")


def _check_conflicts(paths: list[str]) -> None:
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise InputError(f"two files of the path {path!r}")
        seen.add(path)
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if str(folder) in seen:
                raise InputError(f"{str(folder)!r} is both a file and the folder of {path!r}")


def _check_size(
    files: Sequence[tuple[str, bytes]], limits: ResourceLimits, extra_bytes: int
) -> None:
    max_files = min(MAX_FILES, limits.inodes // 2)
    if len(files) > max_files:
        raise InputError(f"{len(files)} files; at most {max_files} go into a run")
    max_bytes = min(MAX_BYTES, limits.disk_bytes // 2)
    total = sum(len(content) for _, content in files) + extra_bytes
    if total > max_bytes:
        raise InputError(
            f"{format_mb(total)} of files; at most {format_mb(max_bytes)} go into a run"
            f"{_describe_largest(files)}"
        )
    for path, content in files:
        if len(content) > limits.file_bytes:
            size, limit = format_mb(len(content)), format_mb(limits.file_bytes)
            raise InputError(f"{path} has {size}; a file may have {limit}")


def _describe_largest(files: Sequence[tuple[str, bytes]]) -> str:
    largest = sorted(files, key=lambda item: len(item[1]), reverse=True)[:3]
    named = ", ".join(f"{path} ({format_mb(len(content))})" for path, content in largest)
    return f"; the largest: {named}" if named else ""


def format_mb(size: int) -> str:
    """Format a number of bytes in MB."""
    return f"{size / (1 << 20):.1f} MB"


def make_paths_safe(paths: Sequence[str]) -> list[str]:
    """Return distinct paths that no terminal or command misinterprets.

    Unprintable characters become `_`: newlines, escape sequences, direction marks. So does `-` at
    the beginning of a name, which commands take for an option. Other paths are unchanged.
    """
    unchanged = {path for path in paths if _replace_characters(path) == path}
    taken = {str(item) for path in unchanged for item in (path, *PurePosixPath(path).parents)}
    return [path if path in unchanged else _choose_name(path, taken) for path in paths]


def make_text_safe(text: str) -> str:
    """Return a text in one line without unprintable characters."""
    return "".join(char if char.isprintable() else "_" for char in text)


def _replace_characters(path: str) -> str:
    names = (make_text_safe(name) for name in path.split("/"))
    return "/".join(f"_{name[1:]}" if name.startswith("-") else name for name in names)


def _choose_name(path: str, taken: set[str]) -> str:
    """Return a safe path at the top of the folder, and add it to `taken`."""
    base = safe = _replace_characters(path).replace("/", "_")
    number = 1
    while safe in taken:
        number += 1
        safe = f"{base}~{number}"
    taken.add(safe)
    return safe
