"""Parser of the tests in a test file, and their removal."""

import ast
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from greenloop.syntax.nodes import Function, get_line_span
from greenloop.syntax.parse import cache_by_source, parse_or_empty
from greenloop.syntax.source import LINE_END, split_lines
from greenloop.testsuite.skips import can_skip, has_skipping_mark, marks_skip

_REQUIREMENT_ID = re.compile(r"\b[RK][1-9][0-9]*\b")
_TEST_FOLDER = re.compile(r"(.+[_-]|unit)?tests?", re.IGNORECASE)
# Elsewhere such folders are packages, like `numpy.testing`; texts in `specs` are documents.
_TOP_FOLDER = re.compile(r"(testing|testsuites?)/|specs?/.*\.py$", re.IGNORECASE)
# Hooks that influence which tests are collected and how they end.
_HOOKS = re.compile(
    r"def pytest_(runtest|pyfunc|exception|assertion|make|pycollect|collect|ignore|generate|item|deselect)"
    r"|collect_ignore|pytest_plugins"
)
_CHECK_NAME = re.compile(r"(assert|expect|check|verify|raises|warns|fail)[^.]*$", re.IGNORECASE)
Classes = tuple[ast.ClassDef, ...]


@dataclass(frozen=True)
class TestFunction:
    """One test: `name` is `test_x` or `TestClass::test_x`; lines are 1-based and inclusive.

    A returned value is ignored by pytest: a test with `has_return_value` and without
    `has_assertions` always passes.
    """

    __test__ = False

    name: str
    first_line: int
    last_line: int
    requirements: tuple[str, ...]
    can_skip: bool
    has_return_value: bool
    has_assertions: bool

    def source(self, code: str) -> str:
        """Return the test's lines of its file."""
        return "\n".join(LINE_END.split(code)[self.first_line - 1 : self.last_line]) + "\n"


@cache_by_source
def parse_test_functions(code: str) -> tuple[TestFunction, ...]:
    """Return all tests of a file, in order; () if it does not parse."""
    body = parse_or_empty(code).body
    is_marked = marks_skip(body)
    return tuple(_parse_test(test, classes, is_marked) for test, classes in iter_tests(body))


parse_test_functions.__test__ = False  # type: ignore[attr-defined]


def iter_tests(
    body: list[ast.stmt],
    list_body: Callable[[ast.ClassDef], list[ast.stmt]] = lambda node: node.body,
) -> Iterator[tuple[Function, Classes]]:
    """Yield the tests of a file, each with the classes around it, outermost first.

    `list_body` returns the statements of a class to search. If no name is one that pytest collects
    by default, the project has its own names: the tests are then the functions that assert and that
    nothing in the file calls.
    """
    found = list(_iter_by_name(body, (), list_body))
    called = {
        i.id for node in body for i in ast.walk(node) if isinstance(i, ast.Name) and not found
    }
    yield from found or _iter_asserting(body, (), called)


def _iter_by_name(
    body: list[ast.stmt], classes: Classes, list_body: Callable[[ast.ClassDef], list[ast.stmt]]
) -> Iterator[tuple[Function, Classes]]:
    for node in body:
        if isinstance(node, ast.ClassDef) and is_test_class(node):
            yield from _iter_by_name(list_body(node), (*classes, node), list_body)
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield node, classes


def _iter_asserting(
    body: list[ast.stmt], classes: Classes, called: Collection[str]
) -> Iterator[tuple[Function, Classes]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _iter_asserting(node.body, (*classes, node), called)
        elif (
            isinstance(node, Function)
            and node.name not in called
            and not node.name.startswith(("_", "pytest_"))
            and not any("fixture" in ast.unparse(item) for item in node.decorator_list)
            and any(isinstance(i, ast.Assert) or _is_check_call(i) for i in ast.walk(node))
        ):
            yield node, classes


class InheritedTests:
    """The classes of a file, with the tests that they inherit from other classes of the file."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self.classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}

    def list_body(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Return the body of a class, and the functions of its base classes."""
        return [*node.body, *self._find_inherited(node, frozenset())]

    def _find_inherited(self, node: ast.ClassDef, seen: frozenset[str]) -> Iterator[ast.stmt]:
        own = {item.name for item in node.body if isinstance(item, Function)}
        for base in node.bases:
            found = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if found is None or found.name in seen:
                continue
            functions = [item for item in found.body if isinstance(item, Function)]
            yield from (item for item in functions if item.name not in own)
            yield from self._find_inherited(found, seen | {found.name})


def name_test(test: Function, classes: Classes) -> str:
    """Return `test_x` or `TestClass::test_x`."""
    return "::".join(item.name for item in (*classes, test))


def is_test_path(path: str) -> bool:
    """Return whether a file of a project is a test, or lies in a folder of tests."""
    is_below = any(map(_TEST_FOLDER.fullmatch, path.split("/")[:-1]))
    return is_below or has_test_name(path) or _TOP_FOLDER.match(path) is not None


def has_test_name(path: str) -> bool:
    """Return whether a file has the name of a test file or of a conftest."""
    name = path.rpartition("/")[2].lower()
    is_test = name.startswith(("test_", "conftest.")) or name.endswith("_test.py")
    return is_test or name in ("test.py", "tests.py")


def has_hooks(code: str) -> bool:
    """Return whether a file defines hooks that can change the outcome of tests."""
    return _HOOKS.search(code) is not None


def is_test_class(node: ast.ClassDef) -> bool:
    """Return whether pytest collects tests from a class."""
    is_unittest = any("TestCase" in ast.unparse(base) for base in node.bases)
    return node.name.startswith("Test") or is_unittest


def _parse_test(node: Function, classes: Classes, is_marked: bool) -> TestFunction:
    """Parse a test; with `is_marked` a mark of the whole file says that it may skip."""
    first, last = get_line_span(node)
    may_skip = is_marked or any(
        has_skipping_mark(item.decorator_list) or marks_skip(item.body) for item in classes
    )
    head = (ast.get_docstring(node) or "").strip().split(":")[0]
    return TestFunction(
        name=name_test(node, classes),
        first_line=first,
        last_line=last,
        requirements=tuple(dict.fromkeys(_REQUIREMENT_ID.findall(head))),
        can_skip=may_skip or can_skip(node),
        has_return_value=any(_is_value_return(item) for item in iter_own_nodes(node.body)),
        has_assertions=any(
            isinstance(item, ast.Assert) or _is_check_call(item) for item in ast.walk(node)
        ),
    )


def iter_own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield a function's nodes without those of nested functions and classes."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (Function, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_value_return(node: ast.AST) -> bool:
    if not isinstance(node, ast.Return) or node.value is None:
        return False
    return not (isinstance(node.value, ast.Constant) and node.value.value is None)


def _is_check_call(node: ast.AST) -> bool:
    """Return whether a node calls something that can fail a test: `pytest.raises`, …"""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return _CHECK_NAME.search(name) is not None
        case ast.Call(func=called):
            return _CHECK_NAME.search(ast.unparse(called)) is not None
    return False


def get_function_name(test_id: str) -> str:
    """Return `test_x` or `TestClass::test_x` for a pytest node id."""
    bare = test_id.split("[", 1)[0]
    _, separator, rest = bare.partition(".py::")
    return rest if separator else bare


def remove_tests(code: str, names: Collection[str]) -> str:
    """Return the file without the named tests, and without classes in which no test remains."""
    gone = {item.name for item in parse_test_functions(code)}.intersection(names)
    if not gone:
        return code
    lines = split_lines(code)
    for first, last in reversed(list(_find_removed_spans(ast.parse(code).body, gone))):
        del lines[first - 1 : last]
    return "".join(lines)


def _find_removed_spans(
    body: list[ast.stmt], gone: set[str], prefix: str = ""
) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines to remove with the tests in `gone`."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inside = {prefix + name_test(*item) for item in iter_tests([node])}
            if inside and inside <= gone:
                yield get_line_span(node)
            else:
                yield from _find_removed_spans(node.body, gone, f"{prefix}{node.name}::")
        elif isinstance(node, Function) and f"{prefix}{node.name}" in gone:
            yield get_line_span(node)
