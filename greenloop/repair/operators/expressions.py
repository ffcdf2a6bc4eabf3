"""Comparisons, arithmetic, `and` and `or`, `not`, augmented assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from greenloop.repair.context import NodeContext
from greenloop.syntax.edit import TextEdit

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITE = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
_ORDERING_OPERATORS = ("<", "<=", ">", ">=")
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
_NON_NUMERIC_NODES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)


def replace_comparison(context: NodeContext) -> Iterator[TextEdit]:
    node = context.node
    if not isinstance(node, ast.Compare):
        return
    for left, right in pairwise([node.left, *node.comparators]):
        place = context.source.find_operator_span(left, right)
        if place is None:
            continue
        sign = " ".join(context.source.text[place[0] : place[1]].split())
        if sign in _BOUNDARY:
            yield context.replace_span(*place, _BOUNDARY[sign], "boundary", 1.0)
            yield context.replace_span(*place, _MIRRORED[sign], "comparison", 1.5)
            others = set(_ORDERING_OPERATORS) - {sign, _BOUNDARY[sign], _MIRRORED[sign]}
            for other in (*sorted(others), "==", "!="):
                yield context.replace_span(
                    *place, other, "comparison", 1.8 if other in others else 2.2
                )
        elif sign in _OPPOSITE:
            yield context.replace_span(*place, _OPPOSITE[sign], "comparison", 1.4)
            for other in _ORDERING_OPERATORS if sign in ("==", "!=") else ():
                yield context.replace_span(*place, other, "comparison", 2.0)
    yield from _drop_chain_end(context, node)


def _drop_chain_end(context: NodeContext, node: ast.Compare) -> Iterator[TextEdit]:
    """`low <= x <= high` loses an end."""
    if len(node.comparators) > 1:
        start, end = context.source.span(node)
        yield context.replace_span(
            context.source.span(node.comparators[-2])[1], end, "", "comparison", 2.8
        )
        yield context.replace_span(
            start, context.source.span(node.comparators[0])[0], "", "comparison", 2.8
        )


def replace_arithmetic(context: NodeContext) -> Iterator[TextEdit]:
    node = context.node
    if not isinstance(node, ast.BinOp):
        return
    place = context.source.find_operator_span(node.left, node.right)
    if place is None:
        return
    left, right = context.parenthesized_text(node.left), context.parenthesized_text(node.right)
    sign = context.source.text[place[0] : place[1]]
    if not (
        isinstance(node.left, _NON_NUMERIC_NODES) or _is_string(node.left) or _is_string(node.right)
    ):
        for number, other in enumerate(_SIMILAR_OPERATORS.get(sign, ())):
            text = f"{left} {other} {right}"
            if isinstance(context.parent, (ast.BinOp, ast.UnaryOp)):
                text = f"({text})"
            yield context.replace_node(node, text, "arithmetic", 1.4 + 0.3 * number)
    if sign in ("-", "/", "//", "%", "**", "+"):
        swapped = f"{right} {sign} {left}"
        if isinstance(context.parent, (ast.BinOp, ast.UnaryOp)):
            swapped = f"({swapped})"
        yield context.replace_node(node, swapped, "swapped operands", 1.5 if sign != "+" else 2.4)
    yield from _regroup_operands(context, node)


def _regroup_operands(context: NodeContext, node: ast.BinOp) -> Iterator[TextEdit]:
    """`a + b / c` becomes `(a + b) / c`, and `(a + b) / c` the other."""
    for inner, other, before in ((node.right, node.left, True), (node.left, node.right, False)):
        if not isinstance(inner, ast.BinOp):
            continue
        near, far = (inner.left, inner.right) if before else (inner.right, inner.left)
        outer_sign, inner_sign = _operator_text(context, node), _operator_text(context, inner)
        if not outer_sign or not inner_sign:
            continue
        if before:
            text = f"({context.parenthesized_text(other)} {outer_sign} {context.parenthesized_text(near)}) {inner_sign} {context.parenthesized_text(far)}"
        else:
            text = f"{context.parenthesized_text(far)} {inner_sign} ({context.parenthesized_text(near)} {outer_sign} {context.parenthesized_text(other)})"
        yield context.replace_node(node, text, "precedence", 1.2)


def _operator_text(context: NodeContext, node: ast.BinOp) -> str:
    place = context.source.find_operator_span(node.left, node.right)
    return context.source.text[place[0] : place[1]] if place else ""


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def replace_boolean_operator(context: NodeContext) -> Iterator[TextEdit]:
    """`and` for `or`; one part left out; `a and b or c` grouped otherwise."""
    node = context.node
    if not isinstance(node, ast.BoolOp):
        return
    other = "or" if isinstance(node.op, ast.And) else "and"
    parts = [context.parenthesized_text(item) for item in node.values]
    for at, (left, right) in enumerate(pairwise(node.values)):
        place = context.source.find_operator_span(left, right)
        if place is None:
            continue
        head = context.source.text[context.source.span(node)[0] : place[0]]
        tail = context.source.text[place[1] : context.source.span(node)[1]]
        yield context.replace_node(node, f"({head}{other}{tail})", "and/or", 1.4)
        if len(parts) > 2:
            sign = "and" if other == "or" else "or"
            grouped = f"({parts[at]} {other} {parts[at + 1]})"
            whole = f" {sign} ".join([*parts[:at], grouped, *parts[at + 2 :]])
            yield context.replace_node(node, f"({whole})", "and/or", 1.3)
    for at in range(len(parts)):
        kept = [context.text(item) for n, item in enumerate(node.values) if n != at]
        sign = " and " if other == "or" else " or "
        yield context.replace_node(node, f"({sign.join(kept)})", "condition left out", 2.6)


def negate_condition(context: NodeContext) -> Iterator[TextEdit]:
    """A condition, or a part of one, turned round."""
    node, parent = context.node, context.parent
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield context.replace_node(node, context.parenthesized_text(node.operand), "sign", 1.6)
        return
    if not isinstance(node, ast.expr) or isinstance(node, ast.Compare):
        return
    if (
        (
            isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.BoolOp))
            and (isinstance(parent, ast.BoolOp) or context.is_field("test"))
        )
        or (isinstance(parent, ast.comprehension) and node in parent.ifs)
        or (isinstance(parent, ast.Return) and not isinstance(node, (ast.Constant, ast.Tuple)))
    ):
        cost = 1.5 if not isinstance(parent, ast.Return) else 2.6
        yield context.replace_node(
            node, f"not {context.parenthesized_text(node)}", "negation", cost
        )


def negate_number(context: NodeContext) -> Iterator[TextEdit]:
    """`x` becomes `-x`, where numbers stand."""
    node, parent = context.node, context.parent
    numeric = isinstance(parent, (ast.Compare, ast.Return, ast.Call, ast.keyword, ast.BinOp))
    if isinstance(node, (ast.Name, ast.Attribute)) and numeric and not context.is_field("func"):
        yield context.replace_node(node, f"-{context.text(node)}", "sign", 2.3)


def replace_assignment_operator(context: NodeContext) -> Iterator[TextEdit]:
    """`x += y`, `x -= y` and `x = y` for each other."""
    node = context.node
    if isinstance(node, ast.AugAssign):
        place = context.source.find_operator_span(node.target, node.value)
        if place is None:
            return
        sign = context.source.text[place[0] : place[1]].rstrip("=")
        for number, other in enumerate(_SIMILAR_OPERATORS.get(sign, ())):
            yield context.replace_span(*place, f"{other}=", "assignment", 1.4 + 0.3 * number)
        yield context.replace_span(*place, "=", "assignment", 1.5)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        place = context.source.find_operator_span(node.targets[0], node.value)
        if place is not None and not isinstance(node.targets[0], ast.Tuple):
            yield context.replace_span(*place, "+=", "assignment", 1.7)
            yield context.replace_span(*place, "-=", "assignment", 2.4)
            yield context.replace_span(*place, "*=", "assignment", 2.8)
