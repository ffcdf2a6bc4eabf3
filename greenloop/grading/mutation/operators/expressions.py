"""Operators on signs: arithmetic, comparisons, boolean operators, unary signs, assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation
from greenloop.syntax.source import Located, Source

_ARITHMETIC: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("/", "+"),
    ast.Div: ("*", "//"),
    ast.FloorDiv: ("/", "*"),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.LShift: (">>",),
    ast.RShift: ("<<",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
    ast.BitXor: ("&",),
    ast.MatMult: ("*",),
}
_BOUNDARY: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
}
_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_SAME_PRECEDENCE = ({"+", "-"}, {"*", "/", "//", "%", "@"}, {"<<", ">>"})
_SEQUENCE_NODES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)
_IDENTITY_OPERATORS = (ast.Is, ast.IsNot)
_MEMBERSHIP_OPERATORS = (ast.In, ast.NotIn)


def mutate_arithmetic(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """`a + b` becomes `a - b`, and so on. Not where an operand is a text or a list: that only breaks."""
    if not isinstance(node, ast.BinOp) or _is_sequence(node.left) or _is_sequence(node.right):
        return
    sign = source.find_operator_span(node.left, node.right)
    if sign is None:
        return
    old = source.text[sign[0] : sign[1]]
    for new in _ARITHMETIC.get(type(node.op), ()):
        same_rank = any(old in rank and new in rank for rank in _SAME_PRECEDENCE)
        yield _replace_operator("arithmetic", node, source, sign, new, bare=same_rank)


def mutate_augmented_assignment(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """`x += y` becomes `x -= y`, and `x = y`."""
    if not isinstance(node, ast.AugAssign):
        return
    sign = source.find_operator_span(node.target, node.value)
    if sign is None:
        return
    if not _is_sequence(node.value):
        for new in _ARITHMETIC.get(type(node.op), ()):
            yield ProposedChange("augmented", *sign, f"{new}=")
    yield ProposedChange("accumulated", *sign, "=")


def mutate_comparison(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """`<` becomes `<=` (the boundary) and `>=` (the opposite); `==`, `is`, `in` their opposites."""
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for left, sign_of, right in zip(operands, node.ops, operands[1:], strict=False):
        sign = source.find_operator_span(left, right)
        if sign is None:
            continue
        if type(sign_of) in _BOUNDARY:
            yield ProposedChange("boundary", *sign, _BOUNDARY[type(sign_of)])
        yield ProposedChange(_classify_operator(sign_of), *sign, _OPPOSITE[type(sign_of)])


def _classify_operator(operator: ast.cmpop) -> str:
    if isinstance(operator, _IDENTITY_OPERATORS):
        return "identity"
    return "membership" if isinstance(operator, _MEMBERSHIP_OPERATORS) else "comparison"


def mutate_boolean(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """`and` becomes `or`, and the other way."""
    if not isinstance(node, ast.BoolOp):
        return
    new = "or" if isinstance(node.op, ast.And) else "and"
    for left, right in pairwise(node.values):
        sign = source.find_operator_span(left, right)
        if sign is not None:
            yield _replace_operator("boolean", node, source, sign, new, bare=False)


def remove_unary_operator(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """`-x`, `~x` and `not x` become `x`."""
    if not isinstance(node, ast.UnaryOp) or isinstance(node.op, ast.UAdd):
        return
    yield ProposedChange("unary", *source.span(node), f"({source.get_segment(node.operand)})")


def _replace_operator(
    operator_name: str,
    node: Located,
    source: Source,
    operator_span: tuple[int, int],
    new: str,
    *,
    bare: bool,
) -> ProposedChange:
    """The whole expression with another sign, in parentheses where that one binds otherwise."""
    start, end = source.span(node)
    text = source.text[start : operator_span[0]] + new + source.text[operator_span[1] : end]
    return ProposedChange(operator_name, start, end, text if bare else f"({text})")


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, _SEQUENCE_NODES)
