"""Public functions and methods that no test runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none

_MAIN_GUARD = "__name__ =="


def find_unreached(
    code: str, statements: Collection[int], missed: Collection[int]
) -> tuple[str, ...]:
    """Return the names of those none of whose `statements`, by line, were run.

    Abstract methods have none, and what the main guard calls is left out as the guard is.
    """
    tree = parse_or_none(code)
    body = tree.body if tree else []
    conditions = [node for node in body if isinstance(node, ast.If)]
    guards = [node for node in conditions if ast.unparse(node.test).startswith(_MAIN_GUARD)]
    called = {item.id for node in guards for item in ast.walk(node) if isinstance(item, ast.Name)}
    found = ((name, _find_lines(node) & {*statements}) for name, node in _find_public(body))
    return tuple(name for name, own in found if own and own <= {*missed} and name not in called)


def _find_public(
    body: Sequence[ast.stmt],
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((f"{node.name}.{name}", item) for name, item in _find_public(node.body))
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node


def _find_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    """Return the lines of the statements of a function but for those that do nothing."""
    idle = (ast.Pass, ast.Raise) if len(node.body) < 3 else ast.Pass
    kept = [item for item in node.body if not isinstance(item, idle) and not _is_constant(item)]
    return {
        part.lineno for item in kept for part in ast.walk(item) if isinstance(part, ast.stmt)
    } - {node.lineno}


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
