"""Snapshots of a user's folder: limited in size, without secrets and links out of the folder."""

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path

from greenloop.errors import InputError
from greenloop.project.exclusions import holds_private_key, is_excluded_file, is_excluded_folder
from greenloop.records import InputFile, Project
from greenloop.sandbox.work.file_layout import MAX_BYTES, MAX_FILES, format_mb

_MAX_FILES_SEEN = 50_000  # ends the scan, as `max_files` is exceeded by far
_MAX_LISTED = 5
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)


def take_snapshot(
    root: Path, *, max_files: int = MAX_FILES, only: Collection[str] | None = None
) -> Project:
    """Read a folder without version control, environments, caches, builds and secrets.

    `only` are the files to read, relative to the root, None for all. Links are followed only to
    files in the root.
    Raises InputError: the folder cannot be read, or is too large (with its largest entries).
    """
    root = root.resolve()
    check_folder(root)
    most = _MAX_FILES_SEEN + 1 if only is None else None
    sizes = dict(sorted(islice(_find_files(str(root), only), most)))
    if len(sizes) > max_files or sum(sizes.values()) > MAX_BYTES:
        raise InputError(_describe_excess(root, sizes, max_files))
    read = ((path, _read_content(root / path, size)) for path, size in sizes.items())
    files = (
        InputFile(path=path, content=content)
        for path, content in read
        if content is not None and not holds_private_key(path, content)
    )
    return Project(files=tuple(files))


def check_folder(root: Path) -> None:
    """Raise InputError if the path is not a folder."""
    if not root.is_dir():
        kind = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {kind}; name a folder")


def _find_files(root: str, only: Collection[str] | None) -> Iterator[tuple[str, int]]:
    """Yield the files of a snapshot with their sizes; their names are valid text."""
    above = {str(folder) for path in only or () for folder in Path(path).parents}
    wanted = None if only is None else {*only, *above}

    def refuse(error: OSError) -> None:
        if error.filename == root:
            raise InputError(f"the folder cannot be read: {root}: {error.strerror}")

    for place, folders, names in os.walk(root, onerror=refuse):
        inner = "" if place == root else f"{os.path.relpath(place, root)}/"
        paths = {name: inner + name for name in (*folders, *names)}
        if wanted is not None:
            paths = {name: path for name, path in paths.items() if path in wanted}
        folders[:] = [
            i for i in folders if i in paths and not is_excluded_folder(paths[i], f"{place}/{i}")
        ]
        for path in (paths[name] for name in names if name in paths):
            size = None if is_excluded_file(path) else _find_size(root, path)
            if size is not None:
                yield path, size


def _find_size(root: str, path: str) -> int | None:
    """Return a file's size; None if it is no file of the snapshot, or its name is no valid text."""
    full_path = f"{root}/{path}"
    if os.path.islink(full_path) and _leads_out(root, full_path):
        return None
    try:
        path.encode()
        state = os.stat(full_path)
    except (OSError, UnicodeEncodeError):
        return None
    return state.st_size if stat.S_ISREG(state.st_mode) else None


def _leads_out(root: str, link: str) -> bool:
    """Return whether a link leads to no file that the snapshot may have."""
    within = os.path.relpath(os.path.realpath(link), root)
    folders = map(str, list(Path(within).parents)[:-1])
    return (
        within.startswith("..")
        or is_excluded_file(within)
        or any(is_excluded_folder(folder, f"{root}/{folder}") for folder in folders)
    )


def _read_content(path: Path, size: int) -> bytes | None:
    """Return a file's content; None if it cannot be read or has grown since the scan."""
    try:
        with open(os.open(os.path.realpath(path), _FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(size + 1)
    except OSError:
        return None
    return content if len(content) <= size else None


def _describe_excess(root: Path, sizes: Mapping[str, int], max_files: int) -> str:
    """Return the error message with the size of the folder and its largest entries."""
    total, count = sum(sizes.values()), len(sizes)
    many = "more than " if count > _MAX_FILES_SEEN else ""
    is_large, by_place = total > MAX_BYTES, Counter[str]()
    for path, size in sizes.items():
        top, slash, _ = path.partition("/")
        by_place[top + slash] += size if is_large else 1
    largest = (
        f"{name} ({format_mb(amount) if is_large else f'{amount} files'})"
        for name, amount in by_place.most_common(_MAX_LISTED)
    )
    return (
        f"{root} is too large for a sandbox: {many}{count} files, {format_mb(total)}; the limit is "
        f"{max_files} files and {format_mb(MAX_BYTES)}. Largest: {', '.join(largest)}. "
        "Name a smaller folder, or have git ignore what the tests do not need"
    )
