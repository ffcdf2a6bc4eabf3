"""The module under test as a test file sees it: its names there, and its calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from greenloop.syntax.trees import copy_tree


def read_imports(tree: ast.AST, module: str) -> dict[str, str]:
    """Return what each name of a test file is called in the module; a module's own is ''."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            names |= {item.asname or item.name: item.name for item in node.names}
        elif isinstance(node, ast.Import):
            names |= {item.asname or item.name: "" for item in node.names if item.name == module}
    return names


def get_member(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return the member of the module that a name or attribute stands for; '' for others."""
    match node:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if names.get(owner) == "":
            return name
    return ""


def fill_in(
    node: ast.expr, values: Mapping[str, ast.expr], names: Mapping[str, str] | None = None
) -> ast.expr:
    """Return an expression with values for names, and the module's `names` for a test's."""
    filled: ast.expr = _Filler(values, names or {}).visit(copy_tree(node))
    return filled


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr], names: Mapping[str, str]) -> None:
        self._values, self._names = values, names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        member = get_member(node, self._names)
        return ast.Name(member, ast.Load()) if member else self._values.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        member = get_member(node, self._names)
        return ast.Name(member, ast.Load()) if member else self.generic_visit(node)
