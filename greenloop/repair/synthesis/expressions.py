"""Operators that combine an expression with others of its scope, or replace it by them."""

from __future__ import annotations

import ast
from itertools import combinations, permutations

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.synthesis.places import ATOMS, is_value, put_expression
from greenloop.repair.synthesis.vocabulary import (
    CONSTANTS,
    iterate_terms,
    list_containers,
    list_numbers,
    list_variables,
)
from greenloop.syntax.operators import edit_operator

_CALLS = {
    **dict.fromkeys(("len", "abs", "int", "list", "sorted", "str", "set"), 3.2),
    **dict.fromkeys(("sum", "max", "min", "round", "tuple", "float", "any", "all"), 3.8),
}
_COMMON_NUMBERS = (
    *(15, 16, 20, 24, 26, 30, 32, 36, 48, 50, 60, 64, 65, 90, 97, 100, 128, 180),
    *(255, 256, 360, 365, 400, 1000, 3600),
)
_METHODS = "lower upper strip copy items keys values split swapcase".split()


@edit_operator()
def combine_with_variable(context: RepairContext, node: ast.expr) -> Edits:
    """Add, subtract, multiply, … a variable; take the larger or smaller of both."""
    if not is_value(context, node) or not isinstance(node, (*ATOMS, ast.BinOp)):
        return
    text = context.get_parenthesized_text(node)
    for term, extra in iterate_terms(context.scope):
        if term in (text, context.text(node)):
            continue
        signs = (("-", 3.2), ("+", 3.2), ("*", 3.8), ("%", 4.0), ("//", 4.0))
        for sign, cost in signs if term.isalnum() else signs[:2]:
            yield put_expression(context, node, f"{text} {sign} {term}", "term", cost + extra)
        yield put_expression(context, node, f"{term} + {text}", "term", 3.6 + extra)
        yield put_expression(context, node, f"{term} - {text}", "term", 4.0 + extra)
    for name in list_numbers(context.scope):
        for call in ("max", "min"):
            yield put_expression(
                context, node, f"{call}({name}, {context.text(node)})", "bound", 3.4
            )
    for change in ("* 2", "// 2", "** 2", "/ 2"):
        yield put_expression(context, node, f"{text} {change}", "factor", 3.4)
    for call, bound in (("max", "0"), ("min", "0"), ("max", "1")):
        yield put_expression(context, node, f"{call}({bound}, {context.text(node)})", "bound", 3.6)


@edit_operator()
def wrap_in_call(context: RepairContext, node: ast.expr) -> Edits:
    """Pass an expression to a function; call a method of it; take a slice or an item of it."""
    if not is_value(context, node) or isinstance(node, (ast.Constant, ast.Compare, ast.BoolOp)):
        return
    text, scope = context.text(node), context.scope
    item = context.get_parenthesized_text(node)
    for call, cost in _CALLS.items():
        yield put_expression(context, node, f"{call}({text})", "call", cost)
    for call in scope.functions:
        yield put_expression(context, node, f"{call}({text})", "call", 4.0)
    for method in _METHODS:
        yield put_expression(context, node, f"{item}.{method}()", "method", 4.2)
    bounds = [":", "1:", ":-1", "::-1", ":1", "0", "1", "-1"][1:]
    names = [part for name in list_numbers(scope) for part in (f"{name}:", f":{name}", name)]
    for bound in (*bounds, *names):
        yield put_expression(context, node, f"{item}[{bound}]", "part", 3.9)


@edit_operator()
def replace_by_known(context: RepairContext, node: ast.expr) -> Edits:
    """Replace an expression by a variable, another expression of its function, or a constant."""
    if not is_value(context, node):
        return
    scope, text = context.scope, context.text(node)
    if not isinstance(node, ast.Name):
        yield from (
            put_expression(context, node, i, "variable", 3.4) for i in list_variables(scope)
        )
    yield from (put_expression(context, node, i, "constant", 4.6) for i in CONSTANTS if i != text)
    kind = type(node)
    for donor in scope.donors:
        is_alike = isinstance(ast.parse(donor, mode="eval").body, kind)
        yield put_expression(context, node, donor, "expression", 3.8 if is_alike else 4.4)


@edit_operator()
def replace_number(context: RepairContext, node: ast.Constant) -> Edits:
    """Replace a number by any small or common one, or by the length of a container."""
    value = node.value
    if (
        not isinstance(value, (int, float))
        or isinstance(value, bool)
        or not is_value(context, node)
    ):
        return
    for number in (*range(13), *_COMMON_NUMBERS, value * 2, value / 2):
        yield context.edit(node, str(number), "constant", 3.3)
    for name in list_containers(context.scope):
        yield context.edit(node, f"len({name})", "constant", 3.0)


@edit_operator()
def measure_container(context: RepairContext, node: ast.Name) -> Edits:
    """Replace a variable by the length of a container."""
    if is_value(context, node) and not context.scope.is_container(node.id):
        for name in list_containers(context.scope):
            yield put_expression(context, node, f"len({name})", "length", 3.2)


@edit_operator()
def combine_variables(context: RepairContext, node: ast.expr) -> Edits:
    """Return, assign, pass or index by an operation of two variables."""
    slots = (ast.Return, ast.Assign, ast.AugAssign, ast.Call, ast.Subscript, ast.Compare)
    if not is_value(context, node) or not isinstance(context.parent, slots):
        return
    numbers = list_numbers(context.scope)[:8]
    for one, other in permutations(numbers, 2):
        for sign, cost in (("-", 4.4), ("//", 5.0), ("%", 5.0)):
            yield put_expression(context, node, f"{one} {sign} {other}", "operation", cost)
    for one, other in combinations(numbers, 2):
        for sign, cost in (("+", 4.4), ("*", 4.6)):
            yield put_expression(context, node, f"{one} {sign} {other}", "operation", cost)
    for name in numbers:
        yield from (put_expression(context, node, f"{name} {i} 1", "operation", 4.2) for i in "+-")


@edit_operator()
def replace_any_arithmetic(
    context: RepairContext, node: ast.BinOp | ast.AugAssign | ast.Assign
) -> Edits:
    """Use any other arithmetic operator; combine an assigned value with the former one."""
    if isinstance(node, ast.BinOp):
        span = context.source.find_operator_span(node.left, node.right)
    else:
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        span = context.source.find_operator_span(target, node.value)
    if span is None or isinstance(getattr(node, "targets", [None])[0], ast.Tuple):
        return
    end = "" if isinstance(node, ast.BinOp) else "="
    for sign in ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"):
        yield context.edit_span(*span, f"{sign}{end}", "arithmetic", 3.1)
    if not isinstance(node, ast.BinOp):
        yield from _build_accumulations(context, node.value, context.text(target))


def _build_accumulations(context: RepairContext, value: ast.expr, target: str) -> Edits:
    """Replace the assigned `x` by `y * 10 + x`, where `y` is the target; also with other bases."""
    text = context.get_parenthesized_text(value)
    for base in dict.fromkeys(("10", "2", *(str(item) for item in context.scope.integers))):
        yield context.edit(value, f"{target} * {base} + {text}", "accumulation", 3.4)


@edit_operator()
def add_argument(context: RepairContext, node: ast.Call) -> Edits:
    """Pass one more argument."""
    if context.scope.function is None or not node.args:
        return
    given = context.argument_texts(node)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    more = ["1", "-1", "2", "''", "' '", "','"] + ["reverse=True"] * (name == "sorted")
    for number, text in enumerate((*list_variables(context.scope), *more)):
        called = context.call_text(node, (*given, text))
        yield context.edit(node, called, "argument", 3.4 + 0.02 * number)
