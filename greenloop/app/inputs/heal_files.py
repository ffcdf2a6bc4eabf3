"""Input files of `heal`: a script, or a module with the project layout that its tests need."""

import ast
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from greenloop.app.inputs.project_module import name_module
from greenloop.dependencies.names import find_imported_modules
from greenloop.errors import InputError
from greenloop.files import check_python
from greenloop.project.environment.discovery import (
    ENVIRONMENT_NAMES,
    find_environment,
    find_project_root,
)
from greenloop.project.exclusions import list_modules
from greenloop.project.tree import find_whole_root
from greenloop.scripts.source_file import SourceFile
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.syntax.parse import parse_or_none
from greenloop.workflow.heal.request import OriginalFile, ProjectRequest
from greenloop.workflow.storage.request import GivenTests

_MAX_TEST_FILES = 500


def read_original(path: Path) -> OriginalFile:
    """Read the file to heal. Raises InputError if it is empty or cannot be read as Python text."""
    source = SourceFile.from_path(path)
    if not source.text.strip():
        raise InputError(f"{path} is empty: there is nothing to heal")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return OriginalFile(path=str(path.absolute()), text=source.text, sha256=sha256)


def read_layout(
    file: Path, tests: Sequence[Path], python: str | None
) -> tuple[str, tuple[GivenTests, ...], ProjectRequest | None]:
    """Return a module's name, its tests, and the project whose layout they need, None for none.

    `python` is the user's option.
    Raises InputError: a test file cannot be read, or there is none.
    """
    file, *paths = (Path(os.path.abspath(path)) for path in (file, *tests))
    found = sorted({item for path in paths for item in find_test_files(path)})
    if not found:
        raise InputError(f"--tests {tests[0]}: no test files (test_*.py or *_test.py) in it")
    if len(found) > _MAX_TEST_FILES:
        raise InputError(f"--tests: {len(found)} test files; name at most {_MAX_TEST_FILES}")
    texts = {path: SourceFile.from_path(path).text for path in found}
    for path, text in texts.items():
        check_python(text, f"--tests {path} is")
    may_be_alone = not (_has_environment(file, python) or any(path.is_dir() for path in paths))
    if may_be_alone and _is_standalone(file, texts):
        given = tuple(GivenTests.from_code(path.name, text) for path, text in texts.items())
        return file.stem, given, None
    root = _find_root(file, paths)
    given = tuple(
        GivenTests.from_code(path.relative_to(root).as_posix(), text)
        for path, text in texts.items()
    )
    project = ProjectRequest(
        root=str(root),
        path=file.relative_to(root).as_posix(),
        targets=tuple(path.relative_to(root).as_posix() for path in paths),
    )
    imported = set[str]().union(*map(find_imported_modules, texts.values()))
    return name_module(root, project.path, imported), given, project


def find_test_files(path: Path) -> Iterator[Path]:
    """Yield a file, or the test files of a folder."""
    if path.is_file():
        yield path
        return
    for item in list_modules(path, path):
        if item.name.startswith("test_") or item.name.endswith("_test.py"):
            yield item


def _has_environment(file: Path, python: str | None) -> bool:
    """Return whether the tests are run in another environment than greenloop's."""
    root = find_project_root(file)
    found = find_environment(root.resolve(), python, lambda line: None) if root else None
    return bool(python) or (found is not None and found.prefix != sys.prefix)


def _is_standalone(file: Path, tests: dict[Path, str]) -> bool:
    """Return whether the tests need only the module, imported by its own name."""
    if explain_invalid_module_name(file.stem) or (file.parent / "__init__.py").exists():
        return False
    if len({path.name for path in tests}) < len(tests):
        return False
    folders = {file.parent, *(path.parent for path in tests)}
    if any(_has_conftest(folder) for folder in folders):
        return False
    sources = [file.read_text("utf-8", "replace"), *tests.values()]
    if not all(file.stem in find_imported_modules(text) for text in tests.values()):
        return False
    own = {file.stem, *(path.stem for path in tests)}
    near = {name for text in sources for name in find_imported_modules(text)} - own
    nodes = (node for text in sources for node in ast.walk(parse_or_none(text) or ast.Pass()))
    has_relative_import = any(isinstance(item, ast.ImportFrom) and item.level for item in nodes)
    return not has_relative_import and not any(
        (folder / f"{name}.py").exists() or (folder / name).is_dir()
        for folder in folders
        for name in near
    )


def _has_conftest(folder: Path) -> bool:
    up, root = [folder, *folder.parents], find_project_root(folder) or folder
    return any((item / "conftest.py").exists() for item in up[: up.index(root) + 1])


def _find_root(file: Path, tests: Sequence[Path]) -> Path:
    common = Path(os.path.commonpath([file.parent, *tests]))
    common = common if common.is_dir() else common.parent
    marked = find_project_root(file)
    if marked is not None and (marked == common or marked in common.parents):
        has_environment = any((marked / name).exists() for name in ENVIRONMENT_NAMES)
        return marked if has_environment else find_whole_root(marked)
    if common == Path(common.anchor) or common == Path.home():
        raise InputError(
            f"{file} and its tests have no common project folder: put both into one project"
        )
    return common
