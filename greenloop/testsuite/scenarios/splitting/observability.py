"""What may run in the process of the code"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.testsuite.scenarios.names import dotted_name, free_names
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Scope

_BRANCHES = (ast.Compare, ast.BoolOp, ast.IfExp)


def check_observable(node: ast.AST, scope: Scope) -> None:
    """Check that an expression or block of the code's process compares and decides nothing there.

    Raises:
        RefusedError: it does, or it needs what only the process of the tests has.
    """
    for used in free_names(node):
        if used in scope.judge_only:
            raise RefusedError(f"{used} is used together with the code", _line(node))
        if used in scope.refused:
            raise RefusedError(scope.refused[used], _line(node))
    if any(isinstance(item, ast.Attribute) and item.attr == "__doc__" for item in ast.walk(node)):
        raise RefusedError("a docstring is read", _line(node))
    found = next(_branches(node, scope), None)
    if found is not None:
        raise RefusedError("a comparison that would run beside the code", _line(found))


def _branches(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield the parts of an expression that decide something by a value of the code."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        captured = scope.reachable.keys() & set(free_names(node))
        if captured and any(isinstance(part, _BRANCHES) for part in ast.walk(node)):
            yield node  # it may note what it decides
        return
    decides = isinstance(node, _BRANCHES) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
    calls = isinstance(node, ast.Call) and (
        dotted_name(node.func) in scope.compares and any(map(scope.is_dependent, node.args))
    )
    if (decides or calls) and scope.is_dependent(node):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _branches(child, scope)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
