"""The definitions of a test file"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from greenloop.testsuite.parser import is_test_class
from greenloop.testsuite.scenarios.names import Function, dotted_name
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.reading.decorators import Table


@dataclass
class TestModule:
    """The definitions of a test file; `preamble` is what stands outside of tests and fixtures."""

    __test__ = False

    preamble: list[ast.stmt] = field(default_factory=list)
    fixtures: dict[str, tuple[Function, dict[str, ast.expr]]] = field(default_factory=dict)
    helpers: dict[str, Function] = field(default_factory=dict)
    tests: list[tuple[Function, tuple[ast.ClassDef, ...]]] = field(default_factory=list)


def read_test_module(tree: ast.Module) -> TestModule:
    """Return the definitions of a test file."""
    found = TestModule()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_test_class(node):
            _read_test_class(found, node, ())
        elif isinstance(node, Function):
            _read_function(found, node)
        elif not _is_main_guard(node):
            found.preamble.append(node)
    return found


def _read_function(found: TestModule, node: Function) -> None:
    options = _fixture_options(node)
    if options is not None:
        named = options.get("name")
        key = str(named.value) if isinstance(named, ast.Constant) else node.name
        found.fixtures[key] = (node, options)
    elif node.name.startswith("test"):
        found.tests.append((node, ()))
    else:
        found.helpers[node.name] = node
        found.preamble.append(node)


def _read_test_class(
    found: TestModule, node: ast.ClassDef, outer: tuple[ast.ClassDef, ...]
) -> None:
    for item in node.body:
        if isinstance(item, ast.ClassDef) and is_test_class(item):
            _read_test_class(found, item, (*outer, node))
        elif isinstance(item, Function) and _fixture_options(item) is not None:
            _read_function(found, item)
        elif isinstance(item, Function) and item.name.startswith("test"):
            found.tests.append((item, (*outer, node)))


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _fixture_options(node: Function) -> dict[str, ast.expr] | None:
    """Return the options of a fixture; None for other functions."""
    for item in node.decorator_list:
        called = item.func if isinstance(item, ast.Call) else item
        if dotted_name(called) in ("pytest.fixture", "fixture", "pytest_asyncio.fixture"):
            options = item.keywords if isinstance(item, ast.Call) else []
            return {key.arg: key.value for key in options if key.arg is not None}
    return None


def asserts(function: Function) -> bool:
    """Return whether a helper asserts something itself."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) or block_kind(node):
            return True
        if isinstance(node, ast.Call) and dotted_name(node.func).startswith("self.assert"):
            return True
    return False


@dataclass(frozen=True)
class FlatTest:
    """A test with its fixtures, `setUp` and helpers written out in its body."""

    name: str
    line: int
    body: list[ast.stmt]
    fixtures: tuple[str, ...]
    tables: tuple[Table, ...]
    is_async: bool
