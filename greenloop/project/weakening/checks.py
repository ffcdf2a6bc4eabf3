"""Checks of a test: what can make it fail, and how much each of them tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeGuard

from greenloop.syntax.nodes import Function

_CHECK_CALL = re.compile(r"(^|\.|_)(assert|check|verify|expect)\w*$|^(raises|warns|approx)$", re.I)
_EXPECTING = frozenset({"raises", "warns", "assertRaises", "assertRaisesRegex", "deprecated_call"})
_BROAD = frozenset({"Exception", "BaseException"})
_EQUAL_METHODS = re.compile(r"assert(\w*Equals?|Is|CountEqual|Raises\w*|.*called_(once_)?with)$")
_SUPPRESSING = re.compile(r"(^|\.)suppress$")


class Strength(IntEnum):
    """How much a check says of a value, from nothing to all."""

    NOTHING = 0  # it always holds
    TRUTH = 1  # a value is true, or not None
    KIND = 2  # a type, a length, a bound, an exception of any kind
    PART = 3  # a part of a value, one of several values, a certain exception
    WHOLE = 4  # a whole value, an exception with its text


@dataclass(frozen=True)
class Check:
    """One check: its text, what it looks at, how much it says, and what may keep it from running."""

    text: str
    subject: str
    strength: Strength
    line: int
    is_conditional: bool = False
    is_swallowed: bool = False


def list_checks(body: list[ast.stmt]) -> list[Check]:
    """Return the checks of a function's body, in order, without those of nested functions."""
    return list(_walk(body, False, False))


def _walk(body: list[ast.stmt], is_conditional: bool, is_swallowed: bool) -> Iterator[Check]:
    for node in body:
        yield from _read_statement(node, is_conditional, is_swallowed)
        if isinstance(node, ast.If):
            yield from _walk([*node.body, *node.orelse], True, is_swallowed)
            is_conditional = is_conditional or _leaves(node.body) or _leaves(node.orelse)
        elif isinstance(node, ast.Try):
            hides = is_swallowed or any(map(_hides_failure, node.handlers))
            yield from _walk(node.body, is_conditional, hides)
            yield from _walk([*node.orelse, *node.finalbody], is_conditional, is_swallowed)
            for handler in node.handlers:
                yield from _walk(handler.body, is_conditional, is_swallowed)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            hides = is_swallowed or any(map(_suppresses, node.items))
            yield from _walk(node.body, is_conditional, hides)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield from _walk([*node.body, *node.orelse], is_conditional, is_swallowed)
        elif isinstance(node, (ast.Return, ast.Continue, ast.Break)):
            return


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)


def _hides_failure(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler ends an assertion's failure without another one."""
    caught = {"BaseException"} if handler.type is None else _names(handler.type)
    if caught.isdisjoint({"AssertionError", *_BROAD}):
        return False
    nodes = [item for part in handler.body for item in ast.walk(part)]
    return not any(isinstance(i, (ast.Raise, ast.Assert)) or _is_failing_call(i) for i in nodes)


def _is_failing_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("fail", "exit"))


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    is_suppress = isinstance(call, ast.Call) and _SUPPRESSING.search(ast.unparse(call.func))
    return bool(is_suppress) and not _names(call).isdisjoint({"AssertionError", *_BROAD})


def _names(node: ast.AST) -> set[str]:
    found = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    return found | {item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute)}


def _read_statement(node: ast.stmt, is_conditional: bool, is_swallowed: bool) -> Iterator[Check]:
    """Yield the checks that a statement makes itself, without those of its body."""
    for text, subject, strength in _find_checks(node):
        yield Check(text, subject, strength, node.lineno, is_conditional, is_swallowed)


def _find_checks(node: ast.stmt) -> Iterator[tuple[str, str, Strength]]:
    match node:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            for value in values:
                yield ast.unparse(value), find_subject(value), grade(value)
        case ast.Assert(test=test):
            yield ast.unparse(test), find_subject(test), grade(test)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if _is_check_call(item.context_expr):
                    inside = "\n".join(map(ast.unparse, node.body))
                    yield ast.unparse(item), inside, _grade_call(item.context_expr)
        case ast.Expr(value=ast.Await(value=value) | value) if _is_check_call(value):
            subject = ast.unparse(value.args[0]) if value.args else ast.unparse(value.func)
            yield ast.unparse(value), subject, _grade_call(value)


def _is_check_call(node: ast.expr) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.rpartition(".")[2] in _EXPECTING or bool(_CHECK_CALL.search(name))


def find_subject(test: ast.expr) -> str:
    """Return what a condition looks at: the side of a comparison that is no literal."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return find_subject(operand)
        case ast.BoolOp(values=[*_, last]):
            return find_subject(last)
        case ast.Compare(left=left, comparators=[right]):
            inner = right if _is_literal(left) else left
            return find_subject(inner)
        case ast.Call(
            func=ast.Name(id="isinstance" | "len" | "bool" | "sorted" | "set"), args=[first, *_]
        ):
            return ast.unparse(first)
    return ast.unparse(test)


def grade(test: ast.expr) -> Strength:
    """Return how much a condition says of what it looks at."""
    match test:
        case ast.Constant() | ast.Tuple() | ast.List(elts=[_, *_]) | ast.JoinedStr():
            return Strength.NOTHING
        case ast.BoolOp(op=ast.Or(), values=values):
            return min(Strength.PART, *map(grade, values))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _grade_comparison(left, operator, right)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "hasattr" | "callable")):
            return Strength.KIND
        case ast.Call(func=ast.Name(id="all" | "any")):
            return Strength.PART
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return min(grade(operand), Strength.KIND)
    return Strength.TRUTH


def _grade_comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Strength:
    if ast.unparse(left) == ast.unparse(right):
        return Strength.NOTHING
    is_length = any(_is_call_of(side, "len", "type") for side in (left, right))
    is_none = any(isinstance(side, ast.Constant) and side.value is None for side in (left, right))
    match operator:
        case ast.Eq() | ast.Is():
            return Strength.KIND if is_length else Strength.WHOLE
        case ast.NotEq() | ast.IsNot():
            return Strength.TRUTH if is_none else Strength.KIND
        case ast.In():
            return Strength.PART
    return Strength.KIND


def _grade_call(node: ast.Call) -> Strength:
    """Return how much an asserting call says: `pytest.raises`, a method of unittest, a helper."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in _EXPECTING:
        if any(item.arg == "match" for item in node.keywords) or name.endswith("Regex"):
            return Strength.WHOLE
        is_broad = bool(node.args) and not _names(node.args[0]).isdisjoint(_BROAD)
        return Strength.KIND if is_broad else Strength.PART
    if name in ("assertTrue", "assertFalse", "assertIsNotNone"):
        return Strength.TRUTH
    if _EQUAL_METHODS.match(name):
        return Strength.WHOLE
    return Strength.PART if name.startswith("assert") else Strength.WHOLE


def _is_call_of(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def _is_literal(node: ast.expr) -> bool:
    inner = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(item, inner) for item in ast.walk(node))


def list_values(node: Function) -> frozenset[str]:
    """Return the constants of a test, those of its parameters included, without its docstring."""
    found = [i for i in ast.walk(node) if isinstance(i, ast.Constant)]
    doc = node.body[0].value if node.body and isinstance(node.body[0], ast.Expr) else None
    return frozenset(repr(item.value) for item in found if item is not doc)


def list_names(node: ast.AST) -> frozenset[str]:
    """Return the names and attributes that a test uses."""
    return frozenset(_names(node))
