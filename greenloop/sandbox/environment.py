"""Mounts of a project's own environment: its interpreter, packages and files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.sandbox.backends.mounts import HOME, GuestMounts

_STAGED, _TREE, _UPPER = f"{HOME}/mounts", f"{HOME}/tree", f"{HOME}/upper"


@dataclass(frozen=True)
class GuestEnvironment:
    """Mounts and variables for the tests of a project.

    Attributes:
        python: The path of the interpreter, by which it finds its packages.
        root: The folder of the project, at which each run has its own writable copy.
        copy: The folder of the copy on the host. Beside it are an empty folder, `empty`, and an
            empty file, `blank`.
        folders: Folders that are mounted at their own paths, read-only.
        links: Symbolic links (target, path) outside of `folders`.
        hidden: Folders in `folders` that are empty in the guest.
        shown: Folders in which the hidden folders of other mounts are visible.
        masked: Files in `folders` that are empty in the guest.
        variables: Environment variables of each run, in addition to those of all runs.
    """

    python: str
    root: str
    copy: Path
    folders: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    _contents: dict[str, bytes | None] = field(default_factory=dict, compare=False)

    @property
    def _late_folders(self) -> list[str]:
        """Folders that can be mounted only in a run: those below /tmp, or in the project."""
        return [item for item in self.folders if _is_in(item, ("/tmp", self.root))]

    def build_overlay(self) -> dict[str, Any]:
        """Return the mounts of a run, in the form that the guest reads."""
        late = enumerate(self._late_folders)
        binds = [[f"{_STAGED}/{number}", folder] for number, folder in late]
        return {"tree": _TREE, "upper": _UPPER, "root": self.root, "binds": binds}

    def find_changes(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files, by path, that differ from those of the copy."""
        return {path: content for path, content in files.items() if self._read(path) != content}

    def _read(self, path: str) -> bytes | None:
        """Return the content of a regular file of the copy; None for other paths."""
        if path not in self._contents:
            file = self.copy / path
            is_file = file.is_file() and not file.is_symlink()
            self._contents[path] = file.read_bytes() if is_file else None
        return self._contents[path]

    def add_mounts(self, mounts: GuestMounts) -> GuestMounts:
        """Return the mounts of a zygote, extended by those of the environment."""
        empty, blank = str(self.copy.parent / "empty"), str(self.copy.parent / "blank")
        pairs, late = list(mounts.read_only), self._late_folders
        for folder in self.folders:
            if folder not in late and not _is_in(folder, [target for _, target in pairs]):
                pairs.append((folder, folder))
        pairs += [(folder, f"{_STAGED}/{number}") for number, folder in enumerate(late)]
        pairs += [(empty, _UPPER), (str(self.copy), _TREE)]
        if not _is_in(self.root, ["/tmp", *(target for _, target in pairs)]):
            pairs.append((empty, self.root))
        pairs += [(blank, self._find_place(path)) for path in self.masked]
        taken = [*self.folders, "/tmp", *(target for _, target in pairs)]
        links = [item for item in self.links if not _is_in(item[1], taken)]
        hidden = [item for item in mounts.hidden if not _is_in(item, self.shown)]
        return replace(
            mounts,
            read_only=tuple(pairs),
            links=tuple(dict.fromkeys((*mounts.links, *links))),
            hidden=tuple(dict.fromkeys((*hidden, *map(self._find_place, self.hidden)))),
        )

    def _find_place(self, path: str) -> str:
        """Return where a path in a mounted folder is before a run mounts the late folders."""
        for number, folder in enumerate(self._late_folders):
            if _is_in(path, (folder,)):
                return f"{_STAGED}/{number}{path[len(folder) :]}"
        return path


def _is_in(path: str, folders: list[str] | tuple[str, ...]) -> bool:
    return any(path == item or path.startswith(f"{item}/") for item in folders)
