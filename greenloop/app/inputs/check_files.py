"""Input files of `check`: a module, its test files, their conftest and helper modules."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.dependencies.names import iter_imported_modules
from greenloop.errors import InputError
from greenloop.files import check_python, read_text
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import list_imported_modules
from greenloop.testsuite.parser import is_test_path
from greenloop.workflow.setup.missing_modules import ONE_MODULE

_MAX_FILES = 100


@dataclass(frozen=True, slots=True)
class CheckInputs:
    """A module's name and source, and its test files with their conftest and helpers.

    A module of a project is run in the project: `root` is its folder, `path` and the names of the
    tests are relative to it, and there are no helpers, as the project has them.
    """

    module: str
    code: str
    tests: tuple[TestFile, ...]
    root: Path | None = None
    path: str = ""


def read_check_inputs(code: Path, tests: Sequence[Path]) -> CheckInputs:
    """Read the module and its tests.

    Raises InputError: a file is missing, too large, not UTF-8 or not Python; the code's name is not
    a module name; there are no test files; none of them imports the module.
    """
    if code.is_dir():
        raise InputError(f"{code} is a folder; name the module's file")
    source = read_python(code)
    check_order(code, tests)
    if code.suffix != ".py":
        raise InputError(f"{code} is not a .py file; name the module's file")
    package = find_package(code)
    if package and code.stem == "__init__":
        raise InputError(f"{code} is the package {package}: {ONE_MODULE}")
    if why := explain_invalid_module_name(code.stem):
        raise InputError(f"{code}: '{code.stem}' cannot be the module's name: {why}")
    paths = [path for item in tests for path in _find_test_files(item, code)]
    if not paths:
        raise InputError("no tests were named: name test files or a folder after the code")
    files = {path.name: path for path in paths}
    if len(files) < len({path.absolute() for path in paths}):
        raise InputError("two test files have the same name, and all run in one folder: rename one")
    if len(files) > _MAX_FILES:
        raise InputError(f"{len(files)} test files are too many: name at most {_MAX_FILES}")
    sources = {name: read_python(path) for name, path in files.items()}
    check_is_alone(code, sources.values())
    helpers = _read_helpers(files, sources, code)
    if not any(_has_tests(item) for item in sources.values()):
        raise InputError(
            f"{', '.join(sources)} contains no tests; pytest runs functions whose names begin with "
            "test_"
        )
    _check_imports(sources, helpers, code.stem)
    sources |= helpers
    order = sorted(sources, key=lambda item: (item != "conftest.py", item))  # that of pytest
    ordered = tuple(TestFile(item, sources[item], locked=True) for item in order)
    return CheckInputs(code.stem, source, ordered)


def check_order(code: Path, tests: Sequence[Path]) -> None:
    """Raise InputError if a test file is named in the place of the code."""
    if is_test_path(code.name) and not any(is_test_path(item.name) for item in tests):
        names = " ".join(map(str, (*(tests or ("CODE",)), code)))
        raise InputError(f"{code} is the test file: name the code first: greenloop check {names}")


def _find_test_files(path: Path, code: Path) -> list[Path]:
    if not path.is_dir():
        if path.absolute() == code.absolute():
            raise InputError(f"{path} is the code itself; name its tests")
        if path.suffix != ".py":
            raise InputError(f"{path}: name a .py file with tests, or a folder")
        return [path]
    found = sorted({*path.glob("test_*.py"), *path.glob("*_test.py")} - {code})
    if not found:
        raise InputError(f"{path}: no test files (test_*.py, *_test.py) are in this folder")
    texts = {item: read_python(item) for item in found}
    about = [item for item in found if code.stem in list_imported_modules(texts[item])]
    if not about:
        check_is_alone(code, texts.values())
        raise InputError(f"{path}: none of its {len(found)} test files imports `{code.stem}`")
    return about


def find_package(code: Path) -> str:
    """Return the name of the top-level package that a file belongs to, '' for none."""
    folder, name = code.absolute().parent, ""
    while (folder / "__init__.py").is_file():
        folder, name = folder.parent, folder.name
    return name


def check_is_alone(code: Path, tests: Iterable[str]) -> None:
    """Raise InputError if tests import a module's package, and none the module by its stem."""
    package = find_package(code)
    trees = (parse_or_none(text) for text in tests)
    imported = {name for tree in trees if tree for name in iter_imported_modules(tree)}
    if package in imported and code.stem not in imported:
        raise InputError(
            f"{code} is a module of the package {package}, which the tests import: {ONE_MODULE}"
        )


def read_python(path: Path) -> str:
    """Return a file's text. Raises InputError if it is not text, or not Python."""
    text = read_text(path)
    check_python(text, f"{path} is", ast.PyCF_ONLY_AST)
    return text


def _has_tests(code: str) -> bool:
    """Return whether a function, class or variable in the code may be a test by its name."""
    return bool(re.search(r"(?i)\b(\w*test\w*\s*[=(:]|class\s)", code))


def _check_imports(sources: dict[str, str], helpers: dict[str, str], module: str) -> None:
    """Raise InputError if neither the tests nor their helpers import the module."""
    if any(_mentions_import(code, module) for code in (*sources.values(), *helpers.values())):
        return
    names = {name: list_imported_modules(code) for name, code in sources.items()}
    others = {name: item for name, items in names.items() for item in items}
    for file, other in others.items():
        if f"{other}.py" not in helpers:
            raise InputError(
                f"{file} imports `{other}`, not `{module}`; name the module that the tests import"
            )
    raise InputError(
        f"{', '.join(sources)} never imports `{module}`; name the tests of {module}.py"
    )


def _mentions_import(code: str, module: str) -> bool:
    """Return whether the code imports the module, or has its name in a text that may import it."""
    texts = [
        ast.unparse(node) if not isinstance(node, ast.Constant) else str(node.value)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Constant))
    ]
    word = re.compile(rf"\b{re.escape(module)}\b")
    return any(word.search(item) for item in texts if "import" in item or " " not in item)


def _read_helpers(files: dict[str, Path], sources: dict[str, str], code: Path) -> dict[str, str]:
    """Return the conftest and helper modules that the tests import, from the tests' folders."""
    folders = list(dict.fromkeys(path.parent for path in files.values()))
    found: dict[str, str] = {}
    waiting = [
        "conftest",
        *(name for text in sources.values() for name in list_imported_modules(text)),
    ]
    while waiting:
        name = waiting.pop()
        path = next((p for f in folders if (p := f / f"{name}.py").is_file()), None)
        if path is None or path.name in found or path.name in files or name == code.stem:
            continue
        found[path.name] = read_python(path)
        waiting += list_imported_modules(found[path.name])
    return found
