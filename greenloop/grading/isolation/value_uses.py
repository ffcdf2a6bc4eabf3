"""The names of a module of which a test sees more than that an exception is raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.module_calls import read_imports
from greenloop.testsuite.parser import iter_tests, name_test
from greenloop.testsuite.scenarios.names import children
from greenloop.testsuite.scenarios.reading.assertions import block_kind


def find_value_uses(tests: str, module: str) -> dict[str, set[str]]:
    """Return these names by test.

    Names of the module's members are those that the module has, of other attributes their own.
    """
    tree = parse_or_none(tests)
    names = read_imports(tree, module) if tree else {}
    return {
        name_test(test, classes): {_name_use(item, names) for item in _walk_values(test)} - {""}
        for test, classes in iter_tests(tree.body if tree else [])
    }


def _walk_values(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its parts, without those that only are to raise an exception."""
    is_block = isinstance(node, (ast.With, ast.AsyncWith))
    parts = [item.context_expr for item in node.items] if is_block else [node]  # type: ignore[attr-defined]
    if "raises" not in map(block_kind, parts):
        yield node
        for child in children(node):
            yield from _walk_values(child)


def _name_use(node: ast.AST, names: Mapping[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""
