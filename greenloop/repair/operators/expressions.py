"""Operators on comparisons, arithmetic, boolean operators, negations, assignment operators."""

import ast
from collections.abc import Iterator

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.operators.protocol import (
    BOUNDARIES,
    SEQUENCE_NODES,
    edit_operator,
    get_operator_text,
    iter_comparisons,
)

_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>")
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
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
            yield context.edit_span(*item.span, sign, "comparison", cost)
    if len(node.comparators) > 1:
        start, end = context.source.span(node)
        last_but_one = context.source.span(node.comparators[-2])[1]
        yield context.edit_span(last_but_one, end, "", "comparison", 2.8)
        second = context.source.span(node.comparators[0])[0]
        yield context.edit_span(start, second, "", "comparison", 2.8)


def _alternative_signs(sign: str) -> Iterator[tuple[str, float]]:
    """Yield comparison operators that are neither opposites nor neighbours, each with its cost."""
    if sign in BOUNDARIES:
        yield from ((_MIRRORED[sign], 1.5), ("==", 2.2), ("!=", 2.2))
    elif sign in ("==", "!="):
        yield from ((other, 2.0) for other in BOUNDARIES)


@edit_operator()
def replace_arithmetic(context: RepairContext, node: ast.BinOp) -> Edits:
    """Replace an arithmetic operator, swap its operands, or group them in another way."""
    span = context.source.find_operator_span(node.left, node.right)
    sign = context.source.text[slice(*span)] if span else ""
    left, right = map(context.get_parenthesized_text, (node.left, node.right))
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
    left, right = map(context.get_parenthesized_text, (node.left, node.right))
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
    """Group `a and b and c` in another way; drop a condition."""
    sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    parts = [context.get_parenthesized_text(item) for item in node.values]
    for index in range(len(parts) - 1 if len(parts) > 2 else 0):
        grouped = f"({parts[index]} {other} {parts[index + 1]})"
        whole = f" {sign} ".join([*parts[:index], grouped, *parts[index + 2 :]])
        yield context.edit(node, f"({whole})", "boolean", 1.3)
    for dropped in range(len(parts)):
        kept = [context.text(item) for n, item in enumerate(node.values) if n != dropped]
        text = f"({f' {sign} '.join(kept)})"
        yield context.edit(node, text, "condition left out", 2.6)


@edit_operator()
def negate_condition(context: RepairContext, node: ast.expr) -> Edits:
    """Negate a condition or a part of one."""
    parent = context.parent
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        return
    is_result = isinstance(parent, ast.Return) and not isinstance(node, (ast.Constant, ast.Tuple))
    if isinstance(node, ast.Compare):
        return
    if context.is_condition or is_result or isinstance(parent, ast.BoolOp):
        text = f"not {context.get_parenthesized_text(node)}"
        yield context.edit(node, text, "negation", 2.6 if is_result else 1.5)


@edit_operator()
def replace_any_arithmetic(context: RepairContext, node: ast.BinOp | ast.AugAssign) -> Edits:
    """Use any other arithmetic operator, which may bind its operands in another way."""
    if isinstance(node, ast.BinOp):
        span = context.source.find_operator_span(node.left, node.right)
    else:
        span = context.source.find_operator_span(node.target, node.value)
    if span is None:
        return
    end = "" if isinstance(node, ast.BinOp) else "="
    for sign in _ARITHMETIC:
        yield context.edit_span(*span, f"{sign}{end}", "arithmetic", 3.1)


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
    elif len(node.targets) == 1 and not isinstance(target, ast.Tuple):
        for other, cost in (("+=", 1.7), ("-=", 2.4), ("*=", 2.8)):
            yield context.edit_span(*span, other, "assignment", cost)
