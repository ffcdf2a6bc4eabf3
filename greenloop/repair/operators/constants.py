"""Operators on constants, and on values that are one too large or too small."""

import ast
from collections.abc import Sequence
from functools import lru_cache

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.operators.protocol import edit_operator

_MAX_STRING_CHARS, _SEPARATORS = 30, (" ", ",", ", ", "\n", "-", "_", ".", ":", ";", "/")
_LARGE = 1e300
_ALTERNATIVES_TO_NONE = ("[]", "{}", "0", '""', "False")


@edit_operator()
def replace_constant(context: RepairContext, node: ast.Constant) -> Edits:
    """Replace a constant by a related one, or by another one of the function."""
    value = node.value
    if isinstance(value, bool):
        yield context.edit(node, "None", "constant", 2.6)
    elif isinstance(value, (int, float)):
        yield from _replace_number(context, node, value)
    elif isinstance(value, str):
        yield from _replace_string(context, node, value)
    elif value is None:
        for number, text in enumerate(_ALTERNATIVES_TO_NONE):
            yield context.edit(node, text, "constant", 2.2 + 0.1 * number)


def _replace_number(context: RepairContext, node: ast.Constant, value: float) -> Edits:
    if not -_LARGE < value < _LARGE:  # infinite, or so are its multiples
        return
    signed = isinstance(context.parent, ast.UnaryOp)
    near = [item for item in (value + 1, value - 1) if not _is_neutral_operand(context, item)]
    far = [
        item
        for item in (0, 1, -1, 2, 10 * value, -value, value / 10)
        if item not in near and not _is_neutral_operand(context, item)
    ]
    whole = [int(item) if item == int(item) and isinstance(value, int) else item for item in far]
    for number in near:
        text = f"({number})" if number < 0 and signed else str(number)
        yield context.edit(node, text, "constant", 1.3)
    for number in dict.fromkeys(whole):
        if number != value and not (signed and number < 0):
            yield context.edit(node, str(number), "constant", 2.2)
    for other in _find_sibling_constants(context, (int, float)):
        if other not in (*near, *far, value):
            yield context.edit(node, repr(other), "sibling constant", 2.4)


def _is_neutral_operand(context: RepairContext, number: float) -> bool:
    """Return whether the number would make `x + 0` or `x * 1`: `x` is tried by another operator."""
    sign = type(context.parent.op) if isinstance(context.parent, ast.BinOp) else None
    return (number == 0 and sign in (ast.Add, ast.Sub)) or (number == 1 and sign is ast.Mult)


def _replace_string(context: RepairContext, node: ast.Constant, value: str) -> Edits:
    if isinstance(context.parent, ast.JoinedStr):
        return
    for other in _find_sibling_constants(context, str):
        if other != value and isinstance(other, str) and len(other) < 30:
            yield context.edit(node, repr(other), "sibling constant", 2.2)
    if len(value) >= _MAX_STRING_CHARS:
        return
    changed = (value.upper(), value.lower(), value.strip(), f"{value} ", f" {value}", "")
    for other in dict.fromkeys((*changed, value.capitalize(), value.title())):
        if other != value:
            yield context.edit(node, repr(other), "constant", 2.4)
    for index in range(len(value)):
        yield context.edit(node, repr(value[:index] + value[index + 1 :]), "constant", 2.8)
    for other in _SEPARATORS if len(value) < 3 else ():
        yield context.edit(node, repr(other), "constant", 2.7)
    for text in context.hints.expected_values:
        if text[:1] in "'\"" and text != repr(value):
            yield context.edit(node, text, "constant", 2.8)


def _find_sibling_constants(
    context: RepairContext, kind: type | tuple[type, ...]
) -> Sequence[object]:
    """Return other constants of the function, or of the module for code outside of functions."""
    return _list_constants(context.scope.function or context.ancestors[0], kind)


@lru_cache(maxsize=8)  # each constant of a large table asks for the same list
def _list_constants(around: ast.AST, kind: type | tuple[type, ...]) -> Sequence[object]:
    constants = (item.value for item in ast.walk(around) if isinstance(item, ast.Constant))
    found = (i for i in constants if isinstance(i, kind) and not isinstance(i, bool))
    return list(dict.fromkeys(found))[:8]


@edit_operator()
def shift_by_one(context: RepairContext, node: ast.AST) -> Edits:
    """Replace `x` by `x + 1` and `x - 1`, and `x + 1` by `x`."""
    parent = context.parent
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        for kept, gone in ((node.left, node.right), (node.right, node.left)):
            cost = 1.3 if isinstance(gone, ast.Constant) else 2.6
            yield context.edit(node, context.replacement_text(kept), "one off", cost)
    elif isinstance(node, ast.BinOp):
        for kept in (node.left, node.right):
            yield context.edit(node, context.replacement_text(kept), "operand left out", 3.0)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.BinOp, ast.Call)):
        return
    if not _can_be_number(context) or context.is_field("func") or isinstance(parent, ast.Attribute):
        return
    place = isinstance(parent, (ast.Slice, ast.Subscript, ast.BinOp)) or _is_bound_call(parent)
    cost = 1.5 if place else 2.1
    for change in ("+ 1", "- 1"):
        text = f"{context.text(node)} {change}"
        inside = isinstance(parent, (ast.BinOp, ast.UnaryOp))
        yield context.edit(node, f"({text})" if inside else text, "one off", cost)


def _is_bound_call(parent: ast.AST | None) -> bool:
    name = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(name, ast.Name) and name.id in ("range", "min", "max")


def _can_be_number(context: RepairContext) -> bool:
    """Return whether the node is read where a number is possible."""
    if isinstance(context.parent, ast.Subscript):
        return not context.is_stored and context.is_field("slice")
    kinds = (ast.Compare, ast.Return, ast.Call, ast.Slice, ast.BinOp, ast.Assign, ast.AugAssign)
    is_read = isinstance(context.parent, (*kinds, ast.Tuple, ast.List, ast.IfExp))
    return is_read and not context.is_stored
