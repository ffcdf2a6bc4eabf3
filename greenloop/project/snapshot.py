"""A person's folder read into a Project: bounded, without its secrets, along no link out of it."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.errors import InputError
from greenloop.project.exclusions import content_withheld, file_withheld, folder_withheld
from greenloop.records import InputFile, Project
from greenloop.sandbox.work.file_layout import MOST_BYTES, MOST_FILES, mb

_MOST_SEEN = 50_000  # files; by then it is clear that this is too much
_MOST_NAMED = 5
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)


def snapshot(
    root: Path,
    targets: Sequence[str] = (),
    *,
    most_bytes: int = MOST_BYTES,
    most_files: int = MOST_FILES,
) -> Project:
    """What is in a folder, but for version control, environments, caches, builds and secrets.

    `targets` are test files or folders, relative to the root. A link is followed only to a file
    within the root. What was left out and may matter is in `Project.left_out`.

    Raises:
        InputError: the folder cannot be read, a target is not in it, or it is too much; then the
            largest of what is in it are named.
    """
    root = root.resolve()
    if not root.is_dir():
        raise InputError(f"no such folder: {root}")
    seen = _Seen(str(root))
    seen.walk("")
    total = sum(seen.sizes.values())
    if len(seen.sizes) > most_files or total > most_bytes:
        raise InputError(_too_much(root, seen, most_bytes, most_files))
    files = tuple(seen.read())
    return Project(files=files, targets=tuple(targets), left_out=tuple(seen.left_out))


@dataclass
class _Seen:
    """Sizes of the files that go in, by path; and why others do not."""

    root: str
    sizes: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def walk(self, above: str) -> None:
        """All below one folder; `above` is '' or its path with a slash."""
        try:
            names = sorted(os.listdir(f"{self.root}/{above}"))
        except OSError as error:
            if not above:
                raise InputError(
                    f"the folder cannot be read: {self.root}: {error.strerror}"
                ) from None
            self._leave_out(above, "it cannot be read")
            return
        for name in names:
            if len(self.sizes) <= _MOST_SEEN:
                self._look_at(above + name)

    def _look_at(self, path: str) -> None:
        full_path = f"{self.root}/{path}"
        try:
            state = os.lstat(full_path)
            if stat.S_ISLNK(state.st_mode):
                state = self._linked(path, full_path)
        except OSError:
            self._leave_out(path, "it cannot be read")
            return
        if not _is_text(path):
            self._leave_out(path, "its name is no text")
        elif stat.S_ISDIR(state.st_mode):
            why = folder_withheld(path, full_path)
            self._leave_out(f"{path}/", why) if why else self.walk(f"{path}/")
        elif stat.S_ISREG(state.st_mode):
            why = file_withheld(path)
            if why:
                self._leave_out(path, why)
            else:
                self.sizes[path] = state.st_size
        else:
            self._leave_out(path, "it is no regular file, or a link that is not followed")

    def _linked(self, path: str, full_path: str) -> os.stat_result:
        """What a link leads to where that is a file in the root that goes in, too; else the link."""
        there = os.path.realpath(full_path)
        within = os.path.relpath(there, self.root)
        state = os.stat(there)
        withheld = file_withheld(within) or any(
            folder_withheld(str(folder), f"{self.root}/{folder}")
            for folder in list(Path(within).parents)[:-1]
        )
        is_outside = within.startswith("..") or os.path.isabs(within)
        if is_outside or withheld or not stat.S_ISREG(state.st_mode):
            return os.lstat(full_path)
        return state

    def _leave_out(self, path: str, why: str) -> None:
        shown = path.encode("utf-8", "backslashreplace").decode()
        if not why.startswith("it is made anew"):
            self.left_out.append(f"{shown}: {why}")

    def read(self) -> Iterator[InputFile]:
        for path, size in self.sizes.items():
            content = _content(os.path.realpath(f"{self.root}/{path}"), size)
            why = "it cannot be read" if content is None else content_withheld(content)
            if content is None or why:
                self._leave_out(path, why)
            else:
                yield InputFile(path=path, content=content)


def _content(path: str, size: int) -> bytes | None:
    """None where it cannot be read, or is no longer what it was."""
    try:
        with open(os.open(path, _FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(size + 1)
    except OSError:
        return None
    return content if len(content) <= size else None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_much(root: Path, seen: _Seen, most_bytes: int, most_files: int) -> str:
    """Says how much there is, and what the most of it is."""
    total, count = sum(seen.sizes.values()), len(seen.sizes)
    many = "more than " if count > _MOST_SEEN else ""
    by_place: Counter[str] = Counter()
    by_count: Counter[str] = Counter()
    for path, size in seen.sizes.items():
        top, slash, _ = path.partition("/")
        by_place[top + slash] += size
        by_count[top + slash] += 1
    if total > most_bytes:
        largest = [f"{name} ({mb(size)})" for name, size in by_place.most_common(_MOST_NAMED)]
    else:
        largest = [f"{name} ({size} files)" for name, size in by_count.most_common(_MOST_NAMED)]
    return (
        f"{root} is too much for a sandbox: {many}{count} files, {mb(total)}; at most {most_files} "
        f"files and {mb(most_bytes)} go in. The most of it: {', '.join(largest)}"
    )
