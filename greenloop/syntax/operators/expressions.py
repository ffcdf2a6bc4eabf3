"""Operators on arithmetic, comparisons, boolean and unary operators, augmented assignments."""

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.operators.protocol import (
    BOUNDARIES,
    OPPOSITES,
    SEQUENCE_NODES,
    edit_operator,
    iter_comparisons,
    iter_swapped_operators,
)
from greenloop.syntax.source import TextEdit

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
_SAME_PRECEDENCE = ({"+", "-"}, {"*", "/", "//", "%", "@"}, {"<<", ">>"})


@edit_operator("arithmetic")
def change_arithmetic(context: NodeContext, node: ast.BinOp) -> Iterator[TextEdit]:
    """Replace `a + b` by `a - b`, and so on; not if an operand is a sequence: that only raises."""
    span = context.source.find_operator_span(node.left, node.right)
    if span is None or _is_sequence(node.left) or _is_sequence(node.right):
        return
    whole = context.source.text
    start, end = context.source.span(node)
    for sign in _ARITHMETIC.get(type(node.op), ()):
        text = whole[start : span[0]] + sign + whole[span[1] : end]
        pair = {whole[span[0] : span[1]], sign}
        binds_alike = any(pair <= signs for signs in _SAME_PRECEDENCE)
        yield TextEdit(start, end, text if binds_alike else f"({text})")


@edit_operator("augmented")
def change_augmented_assignment(context: NodeContext, node: ast.AugAssign) -> Iterator[TextEdit]:
    """Replace `x += y` by `x -= y`, and so on."""
    span = context.source.find_operator_span(node.target, node.value)
    if span is not None and not _is_sequence(node.value):
        for sign in _ARITHMETIC.get(type(node.op), ()):
            yield TextEdit(*span, f"{sign}=")


@edit_operator("accumulated", cost=1.5)
def drop_accumulation(context: NodeContext, node: ast.AugAssign) -> Iterator[TextEdit]:
    """Replace `x += y` by `x = y`."""
    span = context.source.find_operator_span(node.target, node.value)
    if span is not None:
        yield TextEdit(*span, "=")


@edit_operator("boundary", cost=1.0)
def shift_boundary(context: NodeContext, node: ast.Compare) -> Iterator[TextEdit]:
    """Replace `<` by `<=`, and so on."""
    for item in iter_comparisons(context.source, node):
        if item.sign in BOUNDARIES:
            yield TextEdit(*item.span, BOUNDARIES[item.sign])


@edit_operator("identity", cost=1.4)
def negate_identity(context: NodeContext, node: ast.Compare) -> Iterator[TextEdit]:
    """Replace `is` by `is not`, and `is not` by `is`."""
    return _negate_comparisons(context, node, ("is", "is not"))


@edit_operator("membership", cost=1.4)
def negate_membership(context: NodeContext, node: ast.Compare) -> Iterator[TextEdit]:
    """Replace `in` by `not in`, and `not in` by `in`."""
    return _negate_comparisons(context, node, ("in", "not in"))


@edit_operator("comparison", cost=1.6)
def negate_comparison(context: NodeContext, node: ast.Compare) -> Iterator[TextEdit]:
    """Replace `<` by `>=`, `==` by `!=`, and so on."""
    return _negate_comparisons(context, node, ("==", "!=", *BOUNDARIES))


def _negate_comparisons(
    context: NodeContext, node: ast.Compare, signs: tuple[str, ...]
) -> Iterator[TextEdit]:
    for item in iter_comparisons(context.source, node):
        if item.sign in signs:
            yield TextEdit(*item.span, OPPOSITES[item.sign])


@edit_operator("boolean", cost=1.4)
def swap_boolean_operator(context: NodeContext, node: ast.BoolOp) -> Iterator[TextEdit]:
    """Replace `and` by `or`, and `or` by `and`."""
    for _, text in iter_swapped_operators(context.source, node):
        yield context.replace(node, text)


@edit_operator("unary", cost=1.6)
def remove_unary_operator(context: NodeContext, node: ast.UnaryOp) -> Iterator[TextEdit]:
    """Replace `-x`, `~x` and `not x` by `x`."""
    if not isinstance(node.op, ast.UAdd):
        yield context.replace(node, f"({context.text(node.operand)})")


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, SEQUENCE_NODES)
