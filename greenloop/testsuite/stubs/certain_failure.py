"""A test that cannot end without a call that raises, and that catches no such exception.

Each step before that call may raise too: the test fails in any case.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import read_literal
from greenloop.testsuite.scenarios.names import get_dotted_name

# Exceptions that `pytest.raises` must not expect: a call with other arguments than the function has
# raises TypeError.
_POSSIBLE = frozenset(kind.__name__ for kind in (*NotImplementedError.__mro__, TypeError))
_STRAIGHT = (ast.Expr, ast.Assert, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


class StubNames(NamedTuple):
    """The expressions of a test file, as text, that are functions and exceptions of the stub."""

    functions: frozenset[str]
    exceptions: frozenset[str]


def fails_for_certain(test: ast.FunctionDef, stub: StubNames) -> bool:
    """Return whether a test fails if each of these functions raises NotImplementedError.

    A test with parameters may fail in another way.
    """
    is_generator = any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in ast.walk(test))
    has_parameters = any(True for _ in ast.iter_child_nodes(test.args))
    return not (is_generator or has_parameters) and _raises(test.body, stub)


def _raises(body: Sequence[ast.stmt], stub: StubNames) -> bool:
    """Return whether a block cannot end without such a call."""
    for at, node in enumerate(body):
        if _reads_unassigned(node, body[at + 1 :]):
            return False
        if _statement_raises(node, stub):
            return True
        if not isinstance(node, _STRAIGHT) and not _is_check(node):
            return False
    return False


def _reads_unassigned(node: ast.stmt, later: Sequence[ast.stmt]) -> bool:
    """Return whether a statement reads a name that only a later one binds: an error of the test."""
    read = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    bound = bound_names(part for item in later for part in ast.walk(item))
    return not read.isdisjoint(bound - bound_names(ast.walk(node)))


def _statement_raises(node: ast.stmt, stub: StubNames) -> bool:
    if isinstance(node, ast.With):
        return _is_check(node) and _passes_on(node, stub) and _begins_with_call(node.body[0], stub)
    if isinstance(node, ast.For):
        return _calls(node.iter, stub) or (_has_rows(node.iter) and _raises(node.body, stub))
    if isinstance(node, ast.Assert):
        return _calls(node.test, stub)
    return isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and _calls(node.value, stub)


def _has_rows(node: ast.expr) -> bool:
    """Return whether an expression is a list or tuple that is written out and not empty."""
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return any(not isinstance(item, ast.Starred) for item in items)


def _is_check(node: ast.stmt) -> bool:
    """Return whether a statement is a block of `pytest.raises`."""
    return isinstance(node, ast.With) and all(
        isinstance(item.context_expr, ast.Call)
        and get_dotted_name(item.context_expr.func) == "pytest.raises"
        and item.context_expr.args
        for item in node.items
    )


def _passes_on(node: ast.With, stub: StubNames) -> bool:
    """Return whether a block of `pytest.raises` does not expect what a call of the stub may raise."""
    expected = [i.context_expr.args[0] for i in node.items if isinstance(i.context_expr, ast.Call)]
    kinds = [part for item in expected for part in getattr(item, "elts", [item])]
    names = {get_dotted_name(item) for item in kinds} - stub.exceptions
    return names.isdisjoint(_POSSIBLE) and all(hasattr(builtins, name) for name in names)


def _begins_with_call(node: ast.stmt, stub: StubNames) -> bool:
    """Return whether the first that a statement does is such a call: no argument raises before it."""
    call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
    if not isinstance(call, ast.Call) or get_dotted_name(call.func) not in stub.functions:
        return False
    arguments = [*call.args, *(item.value for item in call.keywords if item.arg)]
    is_complete = len(arguments) == len(call.args) + len(call.keywords)
    return is_complete and all(isinstance(i, ast.Name) or read_literal(i) for i in arguments)


def _calls(node: ast.AST, stub: StubNames) -> bool:
    """Return whether an expression cannot be evaluated without such a call."""
    if isinstance(node, ast.Call) and get_dotted_name(node.func) in stub.functions:
        return True
    return any(_calls(part, stub) for part in _certain_parts(node))


def _certain_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Return the parts of an expression that are evaluated whenever it is."""
    if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
        return []
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.IfExp):
        return [node.test]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    if isinstance(node, _COMPREHENSIONS):
        return [node.generators[0].iter]
    return ast.iter_child_nodes(node)
