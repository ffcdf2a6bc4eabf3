"""Reading of a project's files from its folder."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from greenloop.dependencies.names import parse_package_name
from greenloop.encodings import decode_source, encode_source
from greenloop.errors import InputError
from greenloop.project.declared import list_requirements
from greenloop.project.environment.discovery import find_pytest_root
from greenloop.project.environment.generated_files import generate_files
from greenloop.project.git import find_commit, list_files, run_git
from greenloop.project.snapshot import take_snapshot
from greenloop.records import InputFile, Project

_CODE, _MAX_CODE_FILES = (".py", ".pyi", ".toml", ".ini", ".cfg", ".md", ".rst"), 20_000
_METADATA = re.compile(
    r"(?i)pyproject\.toml|setup\.(cfg|py)|tox\.ini|uv\.lock|([\w-]+/)?[\w-]*requirements[\w/-]*\.(txt|in)"
)


@dataclass(frozen=True)
class ProjectTree:
    """The files of a project."""

    root: str
    project: Project
    base: str = ""  # the commit of the working tree, '' without version control
    untracked: frozenset[str] = frozenset()  # the files left out because git does not track them
    scope: str = ""  # the subfolder whose tests are run and whose changes count, '' for all

    @property
    def sha256(self) -> str:
        """The digest of all paths and contents."""
        found = hashlib.sha256()
        for path, content in sorted(self.project.all_files.items()):
            found.update(f"{len(path.encode())} {len(content)} {path}".encode() + content)
        return found.hexdigest()

    @property
    def module_names(self) -> frozenset[str]:
        """The names by which an import can refer to the project's own files."""
        found = map(PurePosixPath, self.texts)
        return frozenset(part for path in found for part in (path.stem, *path.parts[:-1]))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The Python files by path, with replacement characters for undecodable bytes."""
        return {
            path: decode_source(content, "replace")
            for path, content in self.project.all_files.items()
            if path.endswith(".py")
        }

    @cached_property
    def declared_names(self) -> frozenset[str]:
        """The names of the packages that the project declares for itself and its tests."""
        return frozenset(map(parse_package_name, list_requirements(Path(self.root, self.scope))))

    def with_changes(
        self, changed: Mapping[str, str | None], targets: Sequence[str] = ()
    ) -> "ProjectTree":
        """Return the project with files changed, added or, if the text is None, deleted.

        `targets` are the tests to run, none for all.
        """
        files = {item.path: item for item in self.project.files}
        removed = set(self.project.removed)
        for path, text in changed.items():
            if text is None:
                files.pop(path, None)
                removed.add(path)
            else:  # the order of files is kept: code may list a folder in the order of writing
                files[path] = InputFile(path=path, content=encode_source(text))
        updates = {
            "files": tuple(files.values()),
            "targets": tuple(targets),
            "removed": tuple(sorted(removed - files.keys())),
        }
        return replace(self, project=self.project.model_copy(update=updates))


def read_tree(root: Path, *, tracked: bool = False) -> ProjectTree:
    """Read a project: with git its tracked files and, unless `tracked`, new ones not ignored.

    Without git all files are read. Environments, caches, secrets and links out of the folder are
    left out in both cases; the files of `generate_files` are added.
    Raises InputError: the folder cannot be read, or is too large.
    """
    base = find_commit(root)
    found = list_files(root)
    untracked = _list_untracked(root) if tracked else frozenset()
    only = None if found is None else found - untracked
    project = _take_snapshot(root, only)
    added = generate_files(project.all_files.get)
    new = (InputFile(path=path, content=content) for path, content in added.items())
    updates = {"files": (*project.files, *new), "generated": tuple(added)}
    return ProjectTree(str(root), project.model_copy(update=updates), base, untracked)


def _take_snapshot(root: Path, only: frozenset[str] | None) -> Project:
    """Read all files, or only code and metadata if all are too large for a sandbox.

    The other files are in the copy that the project's environment mounts.
    """
    try:
        return take_snapshot(root, only=only)
    except InputError as error:
        if only is None:
            raise
        kept = [path for path in only if path.endswith(_CODE) or _METADATA.fullmatch(path)]
        found = take_snapshot(root, only=kept, max_files=_MAX_CODE_FILES)
        return found.model_copy(update={"excess": str(error)})


def read_whole_tree(root: Path, *, tracked: bool = False) -> ProjectTree:
    """Read a project from the folder with its pytest options, if that fits into a sandbox.

    Raises InputError: the folder cannot be read, or is too large.
    """
    place = root.resolve()
    top = find_pytest_root(place)
    if top != place:
        with suppress(InputError):
            return replace(read_tree(top, tracked=tracked), scope=str(place.relative_to(top)))
    return read_tree(root, tracked=tracked)


def find_whole_root(root: Path) -> Path:
    """Return the folder that `read_whole_tree` reads for a project."""
    is_whole = find_pytest_root(root) == root
    return root if is_whole else Path(read_whole_tree(root).root)


def _list_untracked(root: Path) -> frozenset[str]:
    listed = run_git(root, "ls-files", "-z", "--others", "--exclude-standard")
    return frozenset(filter(None, listed.split("\0")))
