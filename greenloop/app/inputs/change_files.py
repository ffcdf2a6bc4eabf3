"""Inputs of `change`: the wish, the project's folder, and the user's own tests."""

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from greenloop.app.inputs.heal_files import find_test_files
from greenloop.app.inputs.specification import read_specification
from greenloop.errors import InputError
from greenloop.files import read_text
from greenloop.project.environment.discovery import find_working_root
from greenloop.project.exclusions import list_modules
from greenloop.project.git import find_commit, has_branch, is_dirty
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path
from greenloop.workflow.storage.request import GivenTests


def read_wish(wish: str, issue: Path | None) -> str:
    """Return the wish, followed by the text of an issue; either may be missing.

    Raises InputError: a file cannot be read, or there is no text.
    """
    if not (wish or issue):
        raise InputError("WISH is missing; see greenloop change --help")
    text = read_specification(wish).text if wish else ""
    if not issue:
        return text
    more = read_text(issue, f"--issue {issue}").strip()
    if not (text or more):
        raise InputError(f"--issue {issue} is empty: say what should change")
    return "\n\n".join(filter(None, (text.rstrip(), more))) + "\n"


def check_project(root: Path, branch: str | None) -> Path:
    """Return the project's folder, absolute.

    Raises InputError: it is no project folder, or `branch` cannot be created in it.
    """
    root = Path(os.path.abspath(find_working_root(root)))  # without `..`
    if not root.is_dir():
        raise InputError(f"--in {root} is not a folder; name the folder of a project")
    if root.parent == root or root == Path.home():
        raise InputError(f"--in {root}: name the folder of a project")
    if branch is not None:
        if not find_commit(root):
            raise InputError(f"--branch {branch}: {root} has no git commit to start from")
        if has_branch(root, branch):
            raise InputError(f"--branch {branch} exists already: choose another name")
        if is_dirty(root):
            raise InputError(
                f"--branch {branch}: the working tree of {root} has changes that are not "
                "committed: commit or stash them, or use -o patch.diff"
            )
    return root


def check_fence(fence: Sequence[str]) -> tuple[str, ...]:
    """Return the globs. Raises InputError for a glob that leads out of the project."""
    for item in fence:
        if item.startswith(("/", "~")) or ".." in item.split("/") or not item:
            raise InputError(f"--fence {item!r}: a glob relative to the project's folder is needed")
    return tuple(fence)


def check_unlocked(root: Path, tests: Sequence[str]) -> tuple[str, ...]:
    """Return the node ids of tests that may change, relative to the project's folder.

    Raises InputError: there is no such test.
    """
    return tuple(_find_test(root, item) for item in tests)


def _find_test(root: Path, test: str) -> str:
    path, _, name = test.partition("[")[0].partition("::")
    file = Path(os.path.abspath(root / path))
    if root in file.parents and file.is_file():
        text = read_text(file, f"--may-change {test}")
        if _may_define(text, name):
            return f"{file.relative_to(root).as_posix()}::{name}"
    raise InputError(f"--may-change {test}: no such test; name it tests/test_x.py::test_y")


def _may_define(text: str, name: str) -> bool:
    """Return whether a file defines a test, inherits it, or has it as a doctest (`module.name`)."""
    found = {i.name: i for i in ast.walk(parse_or_empty(text)) if isinstance(i, Definition)}
    first, *rest = name.split("::")
    owner = found.get(first)
    inherits = isinstance(owner, ast.ClassDef) and bool(owner.bases) and bool(rest)
    return "." in name or inherits or found.keys() >= {first, *rest}


def read_change_tests(root: Path, paths: Sequence[Path]) -> tuple[GivenTests, ...]:
    """Read the user's tests of a change, by their paths in the project.

    A file outside of the project replaces the only test file with its name, or else is put into the
    folder that has the most test files.
    Raises InputError: a file is not Python, or a folder has no test files.
    """
    found: dict[str, GivenTests] = {}
    for path in paths:
        files = sorted(find_test_files(Path(os.path.abspath(path))))
        if not files:
            raise InputError(f"--tests {path}: no test files (test_*.py or *_test.py) in it")
        for file in files:
            place = _find_place(root, file)
            found[place] = GivenTests.read(file, f"--tests {file}", place)
    return tuple(found.values())


def _find_place(root: Path, file: Path) -> str:
    if root in file.parents:
        return file.relative_to(root).as_posix()
    tests = list(_list_tests(root))
    same = [item for item in tests if item.rpartition("/")[2] == file.name]
    if len(same) == 1:
        return same[0]
    folders = [item.rpartition("/")[0] for item in tests] or ["tests"]
    folder = max(sorted(set(folders)), key=folders.count)
    return f"{folder}/{file.name}".lstrip("/")


def _list_tests(root: Path) -> Iterator[str]:
    for file in list_modules(root, root):
        path = file.relative_to(root).as_posix()
        if is_test_path(path) and file.name != "__init__.py":
            yield path
