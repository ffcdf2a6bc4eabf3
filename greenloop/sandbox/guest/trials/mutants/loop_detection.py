"""Lines whose change may make a program loop for ever."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_EXIT_STATEMENTS = (ast.Break, ast.Continue, ast.Return)


def find_loop_exit_lines(text: str) -> frozenset[int]:
    """Return the lines, from 1, that decide whether a `while` loop of the module ends.

    A heuristic: a missing line costs a timeout later, a superfluous one costs a process.
    """
    loops = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.While))
    return frozenset(line for loop in loops for line in _iterate_exit_lines(loop))


def _iterate_exit_lines(loop: ast.While) -> Iterator[int]:
    yield from _node_lines(loop.test)
    names = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    for node in ast.walk(loop):
        is_exit = isinstance(node, _EXIT_STATEMENTS) or (not names and isinstance(node, ast.If))
        if is_exit or _modifies(node, names):
            yield from _node_lines(node.test if isinstance(node, ast.If) else node)


def _modifies(node: ast.AST, names: set[str]) -> bool:
    """Return whether a statement assigns one of these names, or calls a method of one."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        found = ast.walk(node)
        return any(
            isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and item.id in names
            for item in found
        )
    call = node.value if isinstance(node, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) else None
    owner = method.value if isinstance(method, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in names


def _node_lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 1)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)
