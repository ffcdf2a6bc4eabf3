"""Input files of `check` in a project: a module, and the test files to grade it with."""

import os
import sys
from collections.abc import Sequence, Set
from pathlib import Path

from greenloop.app.inputs.check_files import (
    CheckInputs,
    check_order,
    find_package,
    read_check_inputs,
    read_python,
)
from greenloop.dependencies.names import find_imported_modules
from greenloop.errors import InputError
from greenloop.files import read_text
from greenloop.project.environment.discovery import (
    find_environment,
    find_project_root,
    has_pytest_options,
)
from greenloop.project.environment.folders import SOURCE_FOLDERS
from greenloop.project.exclusions import list_modules
from greenloop.project.tree import ProjectTree, find_whole_root, read_tree
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import is_test_path

_NO_TESTS = ("conftest.py", "__init__.py")


def read_module(code: Path, tests: Sequence[Path], settings: Settings) -> CheckInputs:
    """Read a module and its tests, as part of a project or alone.

    It is read as part of a project if it is in a package, if it cannot be imported by its name, or
    if the project has an environment or pytest options. It is alone if the environment is
    greenloop's own and adds only start-up time. Raises InputError: a file cannot be used.
    """
    root = find_project_root(code) or (code.parent if settings.python else None)
    if root is None or not code.is_file():
        return read_check_inputs(code, tests)
    place = root.resolve()
    root = find_whole_root(place)
    found = find_environment(place, settings.python, lambda line: None)
    is_newer = found is not None and found.is_newer
    if find_package(code) or not code.stem.isidentifier():
        return _read_project_module(root, code, tests, is_newer)
    if found is None and not has_pytest_options(root):
        return read_check_inputs(code, tests)
    inputs = _read_project_module(root, code, tests, is_newer)
    if (
        found is None
        or settings.python
        or found.prefix != sys.prefix
        or _needs_environment(inputs, root)
    ):
        return inputs
    return read_check_inputs(code, tests)


def _needs_environment(inputs: CheckInputs, root: Path) -> bool:
    """Return whether the tests use packages, conftest files, pytest options or other modules."""
    imported = [find_imported_modules(item.code) for item in inputs.tests]
    others = find_imported_modules(inputs.code).union(*imported) - {inputs.module, "pytest"}
    folders = {root, *((root / item.name).parent for item in inputs.tests)}
    return (
        bool(others)
        or not all(inputs.module in found for found in imported)
        or any((folder / "conftest.py").exists() for folder in folders)
        or has_pytest_options(root)
    )


def _read_project_module(
    root: Path, code: Path, tests: Sequence[Path], is_newer: bool
) -> CheckInputs:
    """Read a module of a project, and its tests; with `is_newer`, a newer Python runs them.

    Raises InputError: a file is missing, outside of the project, not UTF-8 or not Python (with
    `is_newer` this is not checked); a folder has no test files.
    """
    check_order(code, tests)
    path, source = _make_relative(root, code), (read_text if is_newer else read_python)(code)
    files = [file for item in tests for file in _find_test_files(item, code, root)]
    texts = {_make_relative(root, file): read_text(file) for file in files}  # pytest reads them
    if path in texts and ">>>" not in source:  # pytest's options may make doctests the tests
        raise InputError(f"{code} is the code itself; name its tests")
    found = tuple(TestFile(name, text, locked=True) for name, text in texts.items())
    imported = set[str]().union(*(find_imported_modules(text) for text in texts.values()))
    return CheckInputs(name_module(root, path, imported), source, found, root, path)


def read_module_tree(inputs: CheckInputs) -> ProjectTree:
    """Return the project of a module, with the module's tests as targets."""
    assert inputs.root is not None
    return read_tree(inputs.root).with_changes({}, [item.name for item in inputs.tests])


def _make_relative(root: Path, file: Path) -> str:
    path = os.path.relpath(file.resolve(), root)
    if path.startswith(".."):
        raise InputError(
            f"{file} is outside {root}, the project of the module; name tests inside it"
        )
    return path


def _find_test_files(path: Path, code: Path, root: Path) -> list[Path]:
    """Return a file, or the test files below a folder: those that name the module, if some do.

    If no file has a usual test name, all files count: the project may have set other names.
    """
    if not path.is_dir():
        return [path]
    files = [item for item in list_modules(path, root) if item.name not in _NO_TESTS]
    files = [item for item in files if item.absolute() != code.absolute()]
    found = [item for item in files if is_test_path(item.name)] or files
    if not found:
        raise InputError(f"{path}: no test files (test_*.py, *_test.py) are in this folder")
    name = code.parent.name if code.stem == "__init__" else code.stem
    return [item for item in found if name in item.read_text("utf-8", "replace")] or found


def name_module(root: Path, path: str, imported: Set[str]) -> str:
    """Return the name by which a module is imported; its tests import the modules `imported`."""
    folder, stem = (root / path).parent, Path(path).stem
    names = [] if stem == "__init__" else [stem]
    while (folder / "__init__.py").is_file() and folder != root.parent:
        names.insert(0, folder.name)
        folder = folder.parent
    if len(names) == 1 and folder != root and folder.name not in SOURCE_FOLDERS:
        parts = folder.relative_to(root).parts  # maybe a package without `__init__.py`
        at = next((place for place, name in enumerate(parts, 1) if name in SOURCE_FOLDERS), 0)
        if stem in parts[at : at + 1] or stem not in imported:
            names = [*parts[at:], *names]
    return ".".join(names)
