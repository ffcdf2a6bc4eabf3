"""Names in syntax trees: which a node binds, and which it uses from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import Function

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def get_dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` for such an expression, '' for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = get_dotted_name(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def find_stores(node: ast.AST) -> set[str]:
    """Return the names that a node assigns or has as arguments."""
    found: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            found.add(item.id)
        elif isinstance(item, ast.arg):
            found.add(item.arg)
    return found


def free_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a node loads or rebinds from outside of it."""
    if isinstance(node, ast.Name):
        if node.id not in bound and isinstance(node.ctx, ast.Load):
            yield node.id
        return
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    bound = bound | _find_inner(node)
    for child in ast.iter_child_nodes(node):
        yield from free_names(child, bound)


def _find_inner(node: ast.AST) -> set[str]:
    """Return the names that an expression or a definition binds for its own parts."""
    if isinstance(node, _COMPREHENSIONS):
        return {name for item in node.generators for name in find_stores(item.target)}
    if isinstance(node, ast.Lambda):
        return find_stores(node.args)
    if isinstance(node, Function):
        nodes = (item for item in ast.walk(node) if isinstance(item, (ast.Global, ast.Nonlocal)))
        return find_stores(node) - {name for item in nodes for name in item.names}
    return set()
