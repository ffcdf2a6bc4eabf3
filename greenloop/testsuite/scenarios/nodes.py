"""Construction of syntax trees from templates."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


class _Substitution(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        part = self._parts.get(node.id)
        return node if part is None else copy.deepcopy(part)


def substitute(node: _Node, parts: Mapping[str, ast.expr]) -> _Node:
    """Return a copy of a node with names replaced by expressions."""
    made: _Node = _Substitution(parts).visit(copy.deepcopy(node))
    return made


def expression(template: str, **parts: ast.expr) -> ast.expr:
    """Return the expression of a template, its names `_x` replaced by the parts."""
    return substitute(ast.parse(template, mode="eval").body, parts)


def statement(template: str, **parts: ast.expr) -> ast.stmt:
    """Return the statement of a template, its names `_x` replaced by the parts."""
    return substitute(ast.parse(template).body[0], parts)


def located(node: _Node, place: ast.AST) -> _Node:
    """Return the node at the place of another one, where it has none of its own."""
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return ast.copy_location(node, place)


def tuple_of(items: list[ast.expr]) -> ast.Tuple:
    """Return a tuple expression."""
    return ast.Tuple(items, ast.Load())


def name(identifier: str) -> ast.Name:
    """Return an expression that is a name."""
    return ast.Name(identifier, ast.Load())


def unparse(body: list[ast.stmt]) -> str:
    """Return the text of statements."""
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
