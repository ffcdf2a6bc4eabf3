"""Operators on comparisons, arithmetic, boolean operators, negations, assignment operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.operators import (
    BOUNDARIES,
    OPPOSITES,
    SEQUENCE_NODES,
    edit_operator,
    get_operator_text,
    iter_comparisons,
    iter_swapped_operators,
)

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_ASPECTS = ("len", "abs", "sorted", "set", "str", "int", "sum")
_SIMILAR_OPERATORS: dict[str, tuple[str, ...]] = {
    "+": ("-", "*"),
    "-": ("+", "*"),
    "*": ("**", "+", "/", "//"),
    "/": ("//", "*", "%"),
    "//": ("/", "%", "*"),
    "%": ("//", "/"),
    "**": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("&", "|", "**"),
}


@edit_operator()
def replace_comparison(context: RepairContext, node: ast.Compare) -> Edits:
    """Replace a comparison operator, or drop an end of `low <= x <= high`."""
    for item in iter_comparisons(context.source, node):
        for sign, cost in _alternative_signs(item.sign):
            kind = "boundary" if cost == 1.0 else "comparison"
            yield context.edit_span(*item.span, sign, kind, cost)
    if len(node.comparators) > 1:
        start, end = context.source.span(node)
        last_but_one = context.source.span(node.comparators[-2])[1]
        yield context.edit_span(last_but_one, end, "", "comparison", 2.8)
        second = context.source.span(node.comparators[0])[0]
        yield context.edit_span(start, second, "", "comparison", 2.8)


@edit_operator()
def compare_aspects(context: RepairContext, node: ast.Compare) -> Edits:
    """Compare `len(a)` and `len(b)`, or `c[a]` and `c[b]`, instead of `a` and `b`; or reverse."""
    if len(node.comparators) > 1:
        return
    left, right = node.left, node.comparators[0]
    sign = get_operator_text(context.source, left, right)
    if isinstance(left, ast.Constant) or isinstance(right, ast.Constant) or not sign:
        return
    one, other = context.text(left), context.text(right)
    for name in (*_ASPECTS, *context.scope.functions):
        yield context.edit(node, f"{name}({one}) {sign} {name}({other})", "aspect", 2.5)
    for method in ("lower", "strip"):
        changed = (f"{context.get_parenthesized_text(item)}.{method}()" for item in (left, right))
        yield context.edit(node, f" {sign} ".join(changed), "aspect", 2.5)
    for name in context.scope.variables:
        if ast.unparse(left) != name != ast.unparse(right) and context.scope.is_container(name):
            yield context.edit(node, f"{name}[{one}] {sign} {name}[{other}]", "aspect", 2.2)
    for index in ("0", "1", "-1"):
        changed = (f"{context.get_parenthesized_text(item)}[{index}]" for item in (left, right))
        yield context.edit(node, f" {sign} ".join(changed), "aspect", 2.6)


def _alternative_signs(sign: str) -> Iterator[tuple[str, float]]:
    """Yield other comparison operators, each with its cost."""
    if sign in BOUNDARIES:
        yield from ((BOUNDARIES[sign], 1.0), (_MIRRORED[sign], 1.5), (OPPOSITES[sign], 1.8))
        yield from (("==", 2.2), ("!=", 2.2))
    else:
        yield OPPOSITES[sign], 1.4
        for other in BOUNDARIES if sign in ("==", "!=") else ():
            yield other, 2.0


@edit_operator()
def replace_arithmetic(context: RepairContext, node: ast.BinOp) -> Edits:
    """Replace an arithmetic operator, swap its operands, or group them in another way."""
    sign = get_operator_text(context.source, node.left, node.right)
    left, right = context.get_parenthesized_text(node.left), context.get_parenthesized_text(
        node.right
    )
    is_nested = isinstance(context.parent, (ast.BinOp, ast.UnaryOp))
    is_sequence = isinstance(node.left, SEQUENCE_NODES)
    if not (is_sequence or _is_string(node.left) or _is_string(node.right)):
        for number, other in enumerate(_SIMILAR_OPERATORS.get(sign, ())):
            text = f"{left} {other} {right}"
            text = f"({text})" if is_nested else text
            yield context.edit(node, text, "arithmetic", 1.4 + 0.3 * number)
    if sign in ("-", "/", "//", "%", "**", "+"):
        text = f"{right} {sign} {left}"
        text = f"({text})" if is_nested else text
        yield context.edit(node, text, "swapped operands", 1.5 if sign != "+" else 2.4)
    if sign:
        yield from _regroup_operands(context, node, sign)


def _regroup_operands(context: RepairContext, node: ast.BinOp, sign: str) -> Edits:
    """Replace `a + b / c` by `(a + b) / c`, and `a / b + c` by `a / (b + c)`."""
    left, right = context.get_parenthesized_text(node.left), context.get_parenthesized_text(
        node.right
    )
    for inner in (node.right, node.left):
        if not isinstance(inner, ast.BinOp):
            continue
        inner_sign = get_operator_text(context.source, inner.left, inner.right)
        first, second = map(context.get_parenthesized_text, (inner.left, inner.right))
        if inner is node.right:
            text = f"({left} {sign} {first}) {inner_sign} {second}"
        else:
            text = f"{first} {inner_sign} ({second} {sign} {right})"
        if inner_sign:
            yield context.edit(node, text, "precedence", 1.2)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


@edit_operator()
def replace_boolean_operator(context: RepairContext, node: ast.BoolOp) -> Edits:
    """Replace `and` by `or`; group `a and b and c` in another way; drop a condition."""
    sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    parts = [context.get_parenthesized_text(item) for item in node.values]
    for index, text in iter_swapped_operators(context.source, node):
        yield context.edit(node, text, "and/or", 1.4)
        if len(parts) > 2:
            grouped = f"({parts[index]} {other} {parts[index + 1]})"
            whole = f" {sign} ".join([*parts[:index], grouped, *parts[index + 2 :]])
            yield context.edit(node, f"({whole})", "and/or", 1.3)
    for dropped in range(len(parts)):
        kept = [context.text(item) for n, item in enumerate(node.values) if n != dropped]
        text = f"({f' {sign} '.join(kept)})"
        yield context.edit(node, text, "condition left out", 2.6)


@edit_operator()
def negate_condition(context: RepairContext, node: ast.expr) -> Edits:
    """Negate a condition or a part of one; drop `not` or a minus sign."""
    parent = context.parent
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield context.edit(node, context.get_parenthesized_text(node.operand), "sign", 1.6)
        return
    is_result = isinstance(parent, ast.Return) and not isinstance(node, (ast.Constant, ast.Tuple))
    if isinstance(node, ast.Compare):
        return
    if context.is_condition or is_result or isinstance(parent, ast.BoolOp):
        text = f"not {context.get_parenthesized_text(node)}"
        yield context.edit(node, text, "negation", 2.6 if is_result else 1.5)


@edit_operator()
def negate_number(
    context: RepairContext, node: ast.Name | ast.Attribute | ast.Subscript | ast.Call
) -> Edits:
    """Replace `x` by `-x` where a number is possible."""
    kinds = (ast.Compare, ast.Return, ast.Call, ast.keyword, ast.BinOp, ast.Lambda, ast.Tuple)
    if isinstance(context.parent, kinds) and not (context.is_field("func") or context.is_stored):
        yield context.edit(node, f"-{context.text(node)}", "sign", 2.3)


@edit_operator()
def replace_assignment_operator(context: RepairContext, node: ast.Assign | ast.AugAssign) -> Edits:
    """Replace `x += y`, `x -= y` and `x = y` by each other."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    span = context.source.find_operator_span(target, node.value)
    if span is None:
        return
    if isinstance(node, ast.AugAssign):
        sign = context.source.text[span[0] : span[1]].rstrip("=")
        for number, other in enumerate(_SIMILAR_OPERATORS.get(sign, ())):
            yield context.edit_span(*span, f"{other}=", "assignment", 1.4 + 0.3 * number)
        yield context.edit_span(*span, "=", "assignment", 1.5)
    elif len(node.targets) == 1 and not isinstance(target, ast.Tuple):
        for other, cost in (("+=", 1.7), ("-=", 2.4), ("*=", 2.8)):
            yield context.edit_span(*span, other, "assignment", cost)


@edit_operator()
def replace_endless_condition(context: RepairContext, node: ast.Constant) -> Edits:
    """Replace `while True` by `while x`."""
    if isinstance(context.parent, ast.While) and context.is_field("test"):
        for name in context.scope.variables:
            yield context.edit(node, name, "condition", 2.2)
