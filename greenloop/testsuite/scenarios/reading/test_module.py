"""The definitions of a test file"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.merge import find_clashes, remove_future_imports
from greenloop.testsuite.parser import is_test_class
from greenloop.testsuite.scenarios.names import Function, get_dotted_name, walk
from greenloop.testsuite.scenarios.reading.decorators import Table


@dataclass(frozen=True)
class TestFunction:
    """A test with the classes that it is in, the outermost first."""

    __test__ = False

    node: Function
    classes: tuple[ast.ClassDef, ...]

    @property
    def label(self) -> str:
        """The name that reports have for it."""
        return "::".join([*(item.name for item in self.classes), self.node.name])


@dataclass
class TestModule:
    """The definitions of a test file; `preamble` is what stands outside of tests and fixtures."""

    __test__ = False

    preamble: list[ast.stmt] = field(default_factory=list)
    fixtures: dict[str, tuple[Function, dict[str, ast.expr]]] = field(default_factory=dict)
    tests: list[TestFunction] = field(default_factory=list)
    is_async: bool = False  # whether there are asynchronous functions in it

    @property
    def functions(self) -> dict[str, Function]:
        """The functions of the top level that are neither tests nor fixtures."""
        return {item.name: item for item in self.preamble if isinstance(item, Function)}


class FlatTest(NamedTuple):
    """A test with its fixtures and `setUp` written out in its body."""

    name: str
    line: int
    body: list[ast.stmt]
    fixtures: tuple[str, ...]
    tables: tuple[Table, ...]
    is_async: bool


def read_test_module(tree: ast.Module) -> TestModule:
    """Return the definitions of a test file."""
    found = TestModule(is_async=any(isinstance(node, ast.AsyncFunctionDef) for node in walk(tree)))
    for node in tree.body:
        if not _is_main_guard(node) and not _read(found, node, ()):
            found.preamble.append(node)
    return found


def _read(found: TestModule, node: ast.stmt, outer: tuple[ast.ClassDef, ...]) -> bool:
    """Enter tests and fixtures; return whether a statement has them."""
    if isinstance(node, ast.ClassDef) and is_test_class(node):
        for item in node.body:
            _read(found, item, (*outer, node))
        return True
    options = fixture_options(node) if isinstance(node, Function) else None
    if isinstance(node, Function) and options is not None:
        named = options.get("name")
        key = str(named.value) if isinstance(named, ast.Constant) else node.name
        found.fixtures[key] = (node, options)
        return True
    is_test = isinstance(node, Function) and node.name.startswith("test")
    if isinstance(node, Function) and is_test:
        found.tests.append(TestFunction(node, outer))
    return is_test


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def fixture_options(node: Function) -> dict[str, ast.expr] | None:
    """Return the options of a fixture; None for other functions."""
    for item in node.decorator_list:
        called = item.func if isinstance(item, ast.Call) else item
        if get_dotted_name(called) in ("pytest.fixture", "fixture", "pytest_asyncio.fixture"):
            options = item.keywords if isinstance(item, ast.Call) else []
            return {key.arg: key.value for key in options if key.arg is not None}
    return None


def read_conftest(conftest: str, tests: str) -> list[ast.stmt]:
    """Return the statements of a conftest, without lines; none where the tests use its names."""
    tree = parse_or_none(remove_future_imports(conftest))
    if tree is None or not tree.body or find_clashes(tests, conftest):
        return []
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = 0  # another file's: the line of the test is reported
    return tree.body
