"""Tests that may skip: by a mark, by a call, or with their whole file."""

import ast
import re
from collections.abc import Iterable

from greenloop.syntax.nodes import Function

_SKIPPING_MARK = re.compile(
    r"(pytest\.)?mark\.(skip|skipif|xfail)|unittest\.(skip\w*|expectedFailure)"
)
_SKIPPING_CALLS = frozenset(
    {"pytest.skip", "pytest.xfail", "pytest.importorskip", "self.skipTest", "unittest.SkipTest"}
)


def can_skip(node: Function) -> bool:
    """Return whether a test may skip or xfail, by a mark or a call."""
    skips = any(map(_is_skipping_call, ast.walk(node)))
    return skips or has_skipping_mark(node.decorator_list)


def _is_skipping_call(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="add_marker"), args=marks):
            return has_skipping_mark(marks)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
            return f"{owner}.{name}" in _SKIPPING_CALLS
        case ast.Call(func=ast.Name(id=name)):
            return name in ("SkipTest", "importorskip")
    return False


def has_skipping_mark(marks: Iterable[ast.expr]) -> bool:
    """Return whether one of the decorators or marks is for skipping or an expected failure."""
    nodes = [item for part in marks for item in ast.walk(part)]
    names = {ast.unparse(item) for item in nodes if isinstance(item, ast.Attribute)}
    return any(_SKIPPING_MARK.fullmatch(item) for item in names)


def marks_skip(body: list[ast.stmt]) -> bool:
    """Return whether `pytestmark` lets all tests of a file or class skip."""
    assigned = (item for item in body if isinstance(item, ast.Assign))
    return has_skipping_mark(
        item.value for item in assigned if ast.unparse(item.targets[0]) == "pytestmark"
    )


def can_skip_file(code: str) -> bool:
    """Return whether a test file may skip as a whole while it is imported."""
    return "allow_module_level" in code or "importorskip" in code
