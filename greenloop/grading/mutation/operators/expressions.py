"""Operators on signs: arithmetic, comparisons, boolean operators, unary signs, assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from greenloop.grading.mutation.mutant import Change
from greenloop.syntax.nodes import Place
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
_SAME_RANK = ({"+", "-"}, {"*", "/", "//", "%", "@"}, {"<<", ">>"})
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)
_IDENTITY = (ast.Is, ast.IsNot)
_MEMBERSHIP = (ast.In, ast.NotIn)


def arithmetic(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`a + b` becomes `a - b`, and so on. Not where an operand is a text or a list: that only breaks."""
    if not isinstance(node, ast.BinOp) or _is_sequence(node.left) or _is_sequence(node.right):
        return
    sign = source.sign_between(node.left, node.right)
    if sign is None:
        return
    old = source.text[sign[0] : sign[1]]
    for new in _ARITHMETIC.get(type(node.op), ()):
        same_rank = any(old in rank and new in rank for rank in _SAME_RANK)
        yield _resigned("arithmetic", node, source, sign, new, bare=same_rank)


def augmented(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`x += y` becomes `x -= y`, and `x = y`."""
    if not isinstance(node, ast.AugAssign):
        return
    sign = source.sign_between(node.target, node.value)
    if sign is None:
        return
    if not _is_sequence(node.value):
        for new in _ARITHMETIC.get(type(node.op), ()):
            yield Change("augmented", *sign, f"{new}=")
    yield Change("accumulated", *sign, "=")


def comparison(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`<` becomes `<=` (the boundary) and `>=` (the opposite); `==`, `is`, `in` their opposites."""
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for left, sign_of, right in zip(operands, node.ops, operands[1:], strict=False):
        sign = source.sign_between(left, right)
        if sign is None:
            continue
        if type(sign_of) in _BOUNDARY:
            yield Change("boundary", *sign, _BOUNDARY[type(sign_of)])
        yield Change(_kind(sign_of), *sign, _OPPOSITE[type(sign_of)])


def _kind(sign: ast.cmpop) -> str:
    if isinstance(sign, _IDENTITY):
        return "identity"
    return "membership" if isinstance(sign, _MEMBERSHIP) else "comparison"


def boolean(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`and` becomes `or`, and the other way."""
    if not isinstance(node, ast.BoolOp):
        return
    new = "or" if isinstance(node.op, ast.And) else "and"
    for left, right in pairwise(node.values):
        sign = source.sign_between(left, right)
        if sign is not None:
            yield _resigned("boolean", node, source, sign, new, bare=False)


def unary(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`-x`, `~x` and `not x` become `x`."""
    if not isinstance(node, ast.UnaryOp) or isinstance(node.op, ast.UAdd):
        return
    yield Change("unary", *source.span(node), f"({source.of(node.operand)})")


def _resigned(
    operator: str, node: Located, source: Source, sign: tuple[int, int], new: str, *, bare: bool
) -> Change:
    """The whole expression with another sign, in parentheses where that one binds otherwise."""
    start, end = source.span(node)
    text = source.text[start : sign[0]] + new + source.text[sign[1] : end]
    return Change(operator, start, end, text if bare else f"({text})")


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, _SEQUENCES)
