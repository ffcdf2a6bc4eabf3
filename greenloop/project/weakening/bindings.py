"""Values of names in a test file: what was assigned to them last."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

_MAX_NODES = 400  # then a name stays as it is
Bindings = Mapping[str, ast.expr]


def bind_names(node: ast.stmt, bound: dict[str, ast.expr]) -> None:
    """Note what a statement assigns to a name, and forget names that get an unknown value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.expr() as value):
            bound[name] = resolve(value, bound)
            return
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            bound[name] = resolve(value, bound)
            return
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            bound.pop(item.id, None)


def resolve(node: ast.expr, bound: Bindings) -> ast.expr:
    """Return an expression in which names stand for what was assigned to them."""
    found = _Resolver(bound).visit(copy.deepcopy(node))
    assert isinstance(found, ast.expr)
    is_large = sum(1 for _ in ast.walk(found)) > _MAX_NODES
    return node if is_large else found


class _Resolver(ast.NodeTransformer):
    """Replaces names by what was assigned to them."""

    def __init__(self, bound: Bindings) -> None:
        self._bound = bound

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node  # CPython < 3.12 writes no such text with every expression in it

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node
