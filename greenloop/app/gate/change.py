"""The change that the gate inspects: code, and the files that decide which tests count."""

import hashlib
import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath

from greenloop.errors import OutputError
from greenloop.project.diff import ProjectDiff, read_diff
from greenloop.project.environment.discovery import describe_packages
from greenloop.project.environment.tampering import find_tampered_files
from greenloop.project.git import list_files, list_safe_options, run_git
from greenloop.project.weakening.configuration import (
    find_loosened_configuration,
    is_deciding_file,
)
from greenloop.testsuite.parser import is_test_path

_MAX_CONFIGURATION_BYTES = 1_000_000
_LINK = "120000"  # the mode of a symbolic link in git
_NO_TESTS = tuple(f":(exclude,glob,icase)**/{name}/**" for name in ("test", "tests"))
# Patterns of git and of `fnmatch`; files without an extension are news by their names.
_DOCUMENTS = ("*.md", "*.rst", "*.txt", "*.adoc", "*CHANGES", "*CHANGELOG", "*HISTORY", "*NEWS")


@dataclass(frozen=True)
class GateChange:
    """Difference from the base: code, loosened configuration, and a digest of all that counts."""

    diff: ProjectDiff
    loosened: tuple[str, ...]
    digest: str

    def list_document_lines(self) -> list[str]:
        """Return the added and removed lines of documents, with all lines of untracked ones."""
        root, options = Path(self.diff.tree.root), list_safe_options(Path(self.diff.tree.root))
        plain = ("--no-color", "--no-ext-diff", "--no-textconv")
        paths = ("--", *_DOCUMENTS, *_NO_TESTS)
        arguments = ("diff", "-U0", *plain, self.diff.commit, *paths)
        lines = run_git(root, *arguments, options=options).splitlines()
        new = run_git(root, "ls-files", "-z", "--others", "--exclude-standard", *paths)
        texts = (text for _, text in _read_files(root, list(filter(None, new.split("\0")))))
        changed = (line[1:] for line in lines if re.match(r"[+-](?![+-]{2} )", line))
        return [*changed, *(line for text in texts for line in text.splitlines())]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed but documents, which no code reads."""
        return not self.loosened and all(map(self._is_document, self.diff.all_before))

    def _is_document(self, path: str) -> bool:
        """Return whether a file is a text for people, not data of a package or of tests."""
        modules = self.diff.tree.texts.keys()
        is_text = any(fnmatch(path, item) for item in _DOCUMENTS) and not is_test_path(path)
        return is_text and not any(f"{i}/__init__.py" in modules for i in PurePath(path).parents)


def read_change(root: Path, base: str) -> GateChange:
    """Read the change of a project since a commit. Raises InputError, OutputError."""
    diff = read_diff(root, base)
    before, after = _read_configuration(diff)
    texts = diff.texts_before.items()
    tests = [path for path, text in texts if is_test_path(path) and "def test" in text]
    loosened = (*find_loosened_configuration(before, after, tests), *_find_tampered(diff))
    around = "\n".join((*loosened, describe_packages(Path(diff.tree.root))))
    return GateChange(diff, loosened, _digest(diff, {**after, "environment": around}))


def _find_tampered(diff: ProjectDiff) -> Iterator[str]:
    """Yield a sentence for each file of the environment that was manipulated since the base."""
    root = Path(diff.tree.root)
    with suppress(OutputError, ValueError):  # the empty tree has no commit time
        since = float(run_git(root, "show", "-s", "--format=%ct", diff.commit))
        yield from find_tampered_files(root, since)


def _read_configuration(diff: ProjectDiff) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of the deciding files, at the base and now."""
    root = Path(diff.tree.root)
    new = sorted(filter(is_deciding_file, list_files(root) or ()))
    before, after = {}, dict(_read_files(root, new))
    for entry in filter(None, run_git(root, "ls-tree", "-r", "-z", diff.commit).split("\0")):
        mode, path = entry[:6], entry.partition("\t")[2]
        if is_deciding_file(path):
            before[path] = run_git(root, "show", f"{diff.commit}:./{path}")
            if mode == _LINK:
                now = after.get(path, "")
                before[path] = _follow_link(diff, posixpath.dirname(path), before[path], now)
    return before, after


def _follow_link(diff: ProjectDiff, folder: str, link: str, now: str) -> str:
    """Return the text that a link led to at the base; `now` if it led out of the repository."""
    target = posixpath.normpath(posixpath.join(folder, link))
    with suppress(OutputError):
        return run_git(Path(diff.tree.root), "show", f"{diff.commit}:./{target}")
    return now


def _read_files(root: Path, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        file = root / path
        if file.is_file() and file.stat().st_size <= _MAX_CONFIGURATION_BYTES:
            yield path, file.read_bytes().decode("utf-8", "replace")


def _digest(diff: ProjectDiff, configuration: dict[str, str]) -> str:
    found = hashlib.sha256(f"{diff.commit} {diff.tree.sha256}".encode())
    for path, text in sorted(configuration.items()):
        found.update(f"{path} {len(text)} {text}".encode("utf-8", "replace"))
    return found.hexdigest()
