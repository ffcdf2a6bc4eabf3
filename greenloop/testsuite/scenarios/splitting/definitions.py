"""Functions and classes that a test file defines, and what may run in the process of the code"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.testsuite.scenarios.names import (
    Function,
    bound_names,
    children,
    free_names,
    get_dotted_name,
    walk,
)
from greenloop.testsuite.scenarios.nodes import copy_node
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope

_COMPARISONS = (ast.Compare, ast.BoolOp, ast.IfExp)
_REBINDING = (ast.Global, ast.Nonlocal)
_DECISIONS = (*_COMPARISONS, ast.If, ast.While, ast.Try, ast.Match)


def define(scope: Scope, label: str, node: Function | ast.ClassDef | ast.Lambda) -> None:
    """Enter a function or class of the test file into a scope."""
    parts = list(walk(node))
    captured = set(free_names(node)) & scope.reachable.keys()
    rebound = {n for part in parts if isinstance(part, _REBINDING) for n in part.names}
    scope.bind([label], node)
    scope.literals[label] = node
    for name in rebound:
        scope.reachable.setdefault(name, set())
    if isinstance(node, Function) and _makes_object(scope, node):
        scope.makers.add(label)
    if any(isinstance(part, _DECISIONS) for part in _inner_parts(node, captured)):
        scope.compares.add(label)
        if captured or rebound or _uses_code(scope, node) or any(map(_compares_arguments, parts)):
            scope.refused[label] = f"{label}() decides something by what the code says"
    if any(isinstance(part, ast.Assert) or block_kind(part) or _asserts(part) for part in parts):
        scope.refused[label] = f"{label}() asserts where it is called"


def _inner_parts(node: ast.AST, captured: set[str]) -> Iterator[ast.AST]:
    """Yield the parts of a definition, without functions that its decorators are given."""
    given = [part for item in getattr(node, "decorator_list", ()) for part in walk(item)]
    lambdas = [item for item in given if isinstance(item, ast.Lambda)]
    inputs = [item for item in lambdas if captured.isdisjoint(free_names(item))]
    left_out = {id(part) for item in inputs for part in walk(item)}
    yield from (part for part in walk(node) if id(part) not in left_out)


def _compares_arguments(node: ast.AST) -> bool:
    """Return whether a method compares its arguments, so that its object may note the result."""
    if not isinstance(node, Function) or "self" not in bound_names(node.args):
        return False
    names = bound_names(node.args) - {"self"}
    compared = [part for part in walk(node) if isinstance(part, (ast.Compare, ast.Match))]
    return any(names & set(free_names(part)) for part in compared)


def _uses_code(scope: Scope, node: ast.AST) -> bool:
    """Return whether a definition uses what the code gives, not only the process."""
    names = set(free_names(node)) - scope.process_modules
    return any(scope.level(ast.Name(name, ast.Load())) > Level.INDEPENDENT for name in names)


def _makes_object(scope: Scope, node: Function) -> bool:
    """Return whether a helper returns an instance of a class of the module."""
    made = [item for item in walk(node) if isinstance(item, ast.Assign)]
    names = {n for m in made if scope.is_object(m.value) for t in m.targets for n in bound_names(t)}
    value = getattr(node.body[-1], "value", None)
    return (
        isinstance(node.body[-1], ast.Return)
        and value is not None
        and (scope.is_object(value) or get_dotted_name(value) in names)
    )


def without_docstrings(node: Function | ast.ClassDef) -> Function | ast.ClassDef:
    """Return a definition without its docstrings, as these may say what is expected."""
    changed = copy_node(node)
    for item in walk(changed):
        if isinstance(item, (Function, ast.ClassDef)):
            item.body = [part for part in item.body if not _is_text(part)] or [ast.Pass()]
    return changed


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def check_observable(node: ast.AST, scope: Scope) -> None:
    """Check that an expression or block of the code's process compares and decides nothing there.

    Raises:
        RefusedError: it does, or it needs what only the process of the tests has.
    """
    line = getattr(node, "lineno", 0)
    for used in free_names(node):
        if used in scope.judge_only:
            raise RefusedError(f"{used} is used together with the code", line)
        if used in scope.refused:
            raise RefusedError(scope.refused[used], line)
    for item in walk(node):
        if isinstance(item, ast.Attribute) and item.attr == "__doc__":
            raise RefusedError("a docstring is read", line)
        if _asserts(item):
            raise RefusedError("an assertion of another object", line)
    found = next(_branches(node, scope), None)
    if found is not None:
        raise RefusedError(
            "a comparison that would run beside the code", getattr(found, "lineno", 0)
        )


def check_undecided(nodes: list[ast.AST]) -> None:
    """Check the parts of statements that become one observation. Raises RefusedError."""
    for item in nodes:
        if isinstance(item, (ast.Assert, ast.If, ast.While, ast.Try)) or block_kind(item):
            raise RefusedError("a block that decides something")


def _asserts(node: ast.AST) -> bool:
    """Return whether a node is a method that asserts, as those of mocks."""
    return isinstance(node, ast.Attribute) and node.attr.startswith("assert")


def _branches(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield the parts of an expression that decide something by a value of the code."""
    if isinstance(node, ast.Lambda):
        captured = scope.reachable.keys() & set(free_names(node))
        if captured and any(isinstance(part, _COMPARISONS) for part in walk(node)):
            yield node  # it may note what it decides
        return
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    compares = (
        isinstance(node, ast.Call)
        and get_dotted_name(node.func) in scope.compares
        and any(map(scope.is_dependent, node.args))
    )
    if (is_not or compares or isinstance(node, _COMPARISONS)) and scope.is_dependent(node):
        yield node
    for child in children(node):
        yield from _branches(child, scope)
