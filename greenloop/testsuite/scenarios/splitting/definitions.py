"""Functions and classes that a test file defines"""

from __future__ import annotations

import ast

from greenloop.testsuite.scenarios.names import Function, bound_names, free_names
from greenloop.testsuite.scenarios.nodes import copy_node
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.scope import Level, Scope

_DECISIONS = (ast.Compare, ast.BoolOp, ast.If, ast.IfExp, ast.While, ast.Try, ast.Match)


def define(scope: Scope, node: Function | ast.ClassDef) -> None:
    """Enter a function or class of the test file into a scope."""
    level = scope.level(node)
    parts = list(ast.walk(node))
    decides = any(isinstance(part, _DECISIONS) for part in parts)
    notes = isinstance(node, ast.ClassDef) and any(map(_compares_arguments, parts))
    captured = set(free_names(node)) & scope.reachable.keys()
    rebound = {
        n for part in parts if isinstance(part, (ast.Global, ast.Nonlocal)) for n in part.names
    }
    scope.bind([node.name], node, level)
    if isinstance(node, Function) and _makes_object(scope, node):
        scope.makers.add(node.name)
    for name in rebound:
        scope.reachable.setdefault(name, set())
    if decides:
        scope.compares.add(node.name)
        if _uses_code(scope, node) or captured or rebound or notes:
            reason = f"{node.name}() decides something by what the code says"
            scope.refused[node.name] = reason
    if any(isinstance(part, ast.Assert) or block_kind(part) for part in parts):
        scope.refused[node.name] = f"{node.name}() asserts where it is called"


def _compares_arguments(node: ast.AST) -> bool:
    """Return whether a method compares its arguments, so that its object may note the result."""
    if not isinstance(node, Function):
        return False
    names = bound_names(node.args) - {"self", "cls"}
    compared = [part for part in ast.walk(node) if isinstance(part, (ast.Compare, ast.Match))]
    return any(names & set(free_names(part)) for part in compared)


def _uses_code(scope: Scope, node: Function | ast.ClassDef) -> bool:
    """Return whether a definition uses what the code gives, not only the process."""
    names = set(free_names(node)) - scope.process_modules
    return any(scope.level(ast.Name(name, ast.Load())) > Level.INDEPENDENT for name in names)


def _makes_object(scope: Scope, node: Function) -> bool:
    """Return whether a helper returns an instance of a class of the module."""
    inner = scope.copy()
    for item in ast.walk(node):
        if isinstance(item, ast.Assign) and scope.is_object(item.value):
            inner.objects |= {name for target in item.targets for name in bound_names(target)}
    last = node.body[-1]
    return isinstance(last, ast.Return) and last.value is not None and inner.is_object(last.value)


def without_docstrings(node: Function | ast.ClassDef) -> Function | ast.ClassDef:
    """Return a definition without its docstrings, as these may say what is expected."""
    changed = copy_node(node)
    for item in ast.walk(changed):
        if isinstance(item, (Function, ast.ClassDef)):
            item.body = [part for part in item.body if not _is_text(part)] or [ast.Pass()]
    return changed


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
