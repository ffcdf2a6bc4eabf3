"""Checks of a test: what can make it fail, and how much each of them tells."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeGuard

from greenloop.syntax.nodes import Function

_CHECK_CALL = re.compile(r"(^|\.|_)(assert|check|verify|expect)\w*$|^(raises|warns|approx)$", re.I)
EXPECTING = frozenset({"raises", "warns", "assertRaises", "assertRaisesRegex", "deprecated_call"})
_BROAD = frozenset({"Exception", "BaseException"})
_EQUAL_METHODS = re.compile(r"assert(\w*Equals?|Is|CountEqual|Raises\w*|.*called_(once_)?with)$")
_SUPPRESSING = re.compile(r"(^|\.)suppress$")
_UNITTEST = {
    **dict.fromkeys(("assertEqual", "assertEquals", "assertListEqual"), "{} == {}"),
    **dict.fromkeys(("assertDictEqual", "assertTupleEqual", "assertSetEqual"), "{} == {}"),
    **dict.fromkeys(("assertTrue", "assert_"), "{}"),
    "assertFalse": "not {}",
    "assertIs": "{} is {}",
    "assertIsNot": "{} is not {}",
    "assertIn": "{} in {}",
    "assertNotIn": "{} not in {}",
    "assertNotEqual": "{} != {}",
    "assertIsNone": "{} is None",
    "assertIsNotNone": "{} is not None",
    "assertIsInstance": "isinstance({}, {})",
    "assertRaises": "pytest.raises({})",
    "assertGreater": "{} > {}",
    "assertGreaterEqual": "{} >= {}",
    "assertLess": "{} < {}",
    "assertLessEqual": "{} <= {}",
}
# Functions that keep only a part of their argument.
_REDUCING = frozenset(
    {"set", "frozenset", "sorted", "bool", "round", "int", "abs", "lower", "upper", "casefold"}
    | {"startswith", "endswith"}
)
_PEELED = _REDUCING | {"isinstance", "issubclass", "hasattr", "len", "str", "repr", "list", "type"}
_MAX_NODES = 400  # then a name stays as it is
Bound = Mapping[str, ast.expr]


class Strength(IntEnum):
    """How much a check says of a value, from nothing to all."""

    NOTHING = 0  # it always holds
    TRUTH = 1  # a value is true, or not None
    KIND = 2  # a type, a length, a bound, an exception of any kind
    PART = 3  # a part of a value, one of several values, a certain exception
    WHOLE = 4  # a whole value, an exception with its text


@dataclass(frozen=True)
class Check:
    """One check: its text, what it looks at, how much it says, and what may keep it from running.

    `text` and `subject` have local names replaced by what was assigned to them; `shown` is as written.
    """

    text: str
    subject: str
    strength: Strength
    line: int
    shown: str = ""
    values: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    is_conditional: bool = False
    is_swallowed: bool = False


def list_checks(body: list[ast.stmt], bound: Bound) -> list[Check]:
    """Return the checks of a function's body, in order, without those of nested functions.

    `bound` are the values of names from outside the function.
    """
    return list(_walk(body, dict(bound), False, False))


def _walk(
    body: list[ast.stmt], bound: dict[str, ast.expr], is_conditional: bool, is_swallowed: bool
) -> Iterator[Check]:
    for node in body:
        yield from _read_statement(node, bound, is_conditional, is_swallowed)
        bind_names(node, bound)
        if isinstance(node, ast.If):
            yield from _walk([*node.body, *node.orelse], bound, True, is_swallowed)
            is_conditional = is_conditional or _leaves(node.body) or _leaves(node.orelse)
        elif isinstance(node, ast.Try):
            hides = is_swallowed or any(map(hides_failure, node.handlers))
            yield from _walk(node.body, bound, is_conditional, hides)
            yield from _walk([*node.orelse, *node.finalbody], bound, is_conditional, is_swallowed)
            for handler in node.handlers:
                yield from _walk(handler.body, bound, is_conditional, is_swallowed)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            hides = is_swallowed or any(map(_suppresses, node.items))
            yield from _walk(node.body, bound, is_conditional, hides)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            may_not = is_conditional or _is_empty_loop(node)
            yield from _walk([*node.body, *node.orelse], bound, may_not, is_swallowed)
        elif isinstance(node, (ast.Return, ast.Continue, ast.Break)):
            return


def bind_names(node: ast.stmt, bound: dict[str, ast.expr]) -> None:
    """Note what a statement assigns to a name, and forget names that get an unknown value."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        bound[node.targets[0].id] = resolve(node.value, bound)
        return
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            bound.pop(item.id, None)


def resolve(node: ast.expr, bound: Bound) -> ast.expr:
    """Return an expression in which names stand for what was assigned to them."""
    found = _Resolver(bound).visit(copy.deepcopy(node))
    assert isinstance(found, ast.expr)
    is_large = sum(1 for _ in ast.walk(found)) > _MAX_NODES
    return node if is_large else found


class _Resolver(ast.NodeTransformer):
    """Replaces names by what was assigned to them."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node  # CPython < 3.12 writes no such text with every expression in it

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def _is_empty_loop(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    if isinstance(node, ast.While):
        return isinstance(node.test, ast.Constant) and not node.test.value
    return ast.unparse(node.iter) in ("[]", "()", "{}", "''", "range(0)", "set()")


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)


def hides_failure(handler: ast.ExceptHandler) -> bool:
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


def _read_statement(
    node: ast.stmt, bound: Bound, is_conditional: bool, is_swallowed: bool
) -> Iterator[Check]:
    """Yield the checks that a statement makes itself, without those of its body."""
    for condition, body in _find_conditions(node):
        whole = resolve(condition, bound)
        inside = "\n".join(map(ast.unparse, body))
        strength = _grade_call(whole) if _is_check_call(whole) else grade(whole)
        subject = inside or find_subject(whole)
        text = f"{ast.unparse(_turn(whole))}: {inside}" if inside else ast.unparse(_turn(whole))
        shown = ast.unparse(condition)
        told = ast.Module([ast.Expr(whole), *body], [])
        meant = (list_values(told), list_names(told))
        yield Check(
            text, subject, strength, node.lineno, shown, *meant, is_conditional, is_swallowed
        )


def _find_conditions(node: ast.stmt) -> Iterator[tuple[ast.expr, list[ast.stmt]]]:
    """Yield what a statement checks, and of `with` what it holds."""
    match node:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            yield from ((value, []) for value in values)
        case ast.Assert(test=test):
            yield test, []
        case ast.With(items=items) | ast.AsyncWith(items=items):
            calls = (read_unittest(item.context_expr) for item in items)
            yield from ((call, node.body) for call in calls if _is_check_call(call))
        case ast.Expr(value=ast.Await(value=value) | value) if _is_check_call(value):
            yield read_unittest(value), []


def read_unittest(node: ast.expr) -> ast.expr:
    """Return a call of unittest's assertions as the condition of `assert`, or of pytest."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=arguments):
            form = _UNITTEST.get(name, "")
            if form and len(arguments) >= form.count("{"):
                text = form.format(*(f"({ast.unparse(item)})" for item in arguments))
                return ast.parse(text, mode="eval").body
    return node


def _turn(test: ast.expr) -> ast.expr:
    """Return a comparison with the literal on the right."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() as same], comparators=[right]):
            if _is_literal(left) and not _is_literal(right):
                return ast.Compare(right, [same], [left])
    return test


def _is_check_call(node: ast.expr) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.rpartition(".")[2] in EXPECTING or bool(_CHECK_CALL.search(name))


def find_subject(test: ast.expr) -> str:
    """Return what a condition looks at: the side of a comparison that is no literal."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return find_subject(operand)
        case ast.BoolOp(values=[*_, last]):
            return find_subject(last)
        case ast.Compare(left=left, comparators=[right]):
            return find_subject(right if _is_literal(left) else left)
        case ast.Call(args=[first, *_]) if _is_check_call(test):
            return ast.unparse(first)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _PEELED:
            return find_subject(first)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _REDUCING:
            return find_subject(value)
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
        case ast.Call(func=ast.Name(id="all" | "any")) | ast.Call(
            func=ast.Attribute(attr="startswith" | "endswith")
        ):
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
            if is_length or _is_call_of(left, "bool") or _is_call_of(right, "bool"):
                return Strength.KIND
            is_part = any(map(_is_reduced, (left, right)))
            return Strength.PART if is_part else Strength.WHOLE
        case ast.NotEq() | ast.IsNot():
            return Strength.TRUTH if is_none else Strength.KIND
        case ast.In():
            return Strength.PART
    return Strength.KIND


def _is_reduced(node: ast.expr) -> bool:
    """Return whether a side of a comparison keeps only a part of a value, or names a tolerance."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            is_wide = name in ("approx", "isclose") and bool(node.keywords or node.args[1:])
            return name in _REDUCING or is_wide
        case ast.Subscript(slice=ast.Slice()):
            return True
    return False


def _grade_call(node: ast.Call) -> Strength:
    """Return how much an asserting call says: `pytest.raises`, a method of unittest, a helper."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in EXPECTING:
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


def list_values(node: ast.AST) -> frozenset[str]:
    """Return the constants of a test, those of its parameters included, without its docstring."""
    found = [i for i in ast.walk(node) if isinstance(i, ast.Constant)]
    first = node.body[0] if isinstance(node, Function) and node.body else None
    doc = first.value if isinstance(first, ast.Expr) else None
    return frozenset(repr(item.value) for item in found if item is not doc)


def list_names(node: ast.AST) -> frozenset[str]:
    """Return the names and attributes that a test uses."""
    return frozenset(_names(node))
