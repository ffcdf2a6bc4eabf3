"""Numbers, texts, True, False and None; values that are one off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

_EMPTY = {"None": ("[]", "{}", "0", '""', "False"), "0": ("None", "1"), '""': ("None",)}


def constant(spot: Spot) -> Iterator[Edit]:
    node = spot.node
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield spot.replace(node, str(not value), "constant", 1.3)
        yield spot.replace(node, "None", "constant", 2.6)
    elif isinstance(value, (int, float)):
        yield from _number(spot, node, value)
    elif isinstance(value, str):
        yield from _text(spot, node, value)
    elif value is None:
        for number, text in enumerate(_EMPTY["None"]):
            yield spot.replace(node, text, "constant", 2.2 + 0.1 * number)


def _number(spot: Spot, node: ast.Constant, value: float) -> Iterator[Edit]:
    signed = isinstance(spot.parent, ast.UnaryOp)
    near = [item for item in (value + 1, value - 1) if not _is_idle(spot, item)]
    far = [
        item
        for item in (0, 1, -1, 2, 10 * value, -value, value / 10)
        if item not in near and not _is_idle(spot, item)
    ]
    whole = [int(item) if item == int(item) and isinstance(value, int) else item for item in far]
    for number in near:
        text = f"({number})" if number < 0 and signed else str(number)
        yield spot.replace(node, text, "constant", 1.3)
    for number in dict.fromkeys(whole):
        if number != value and not (signed and number < 0):
            yield spot.replace(node, str(number), "constant", 2.2)
    for other in _siblings(spot, (int, float)):
        if other not in (*near, *far, value):
            yield spot.replace(node, repr(other), "sibling constant", 2.4)


def _is_idle(spot: Spot, number: float) -> bool:
    """`x + 0` and `x * 1` are better written as `x`, which is tried by itself."""
    sign = type(spot.parent.op) if isinstance(spot.parent, ast.BinOp) else None
    return (number == 0 and sign in (ast.Add, ast.Sub)) or (number == 1 and sign is ast.Mult)


def _text(spot: Spot, node: ast.Constant, value: str) -> Iterator[Edit]:
    if isinstance(spot.parent, ast.JoinedStr):
        return
    for other in _siblings(spot, str):
        if other != value and isinstance(other, str) and len(other) < 30:
            yield spot.replace(node, repr(other), "sibling constant", 2.2)
    changed = (value.upper(), value.lower(), value.strip(), f"{value} ", f" {value}", "")
    for other in dict.fromkeys(changed):
        if other != value and len(value) < 30:
            yield spot.replace(node, repr(other), "constant", 2.4)


def _siblings(spot: Spot, kind: type | tuple[type, ...]) -> list[object]:
    """Other constants of the same function, or of the module where it is in none."""
    around = spot.scope.function or spot.ancestors[0]
    found: list[object] = [
        item.value
        for item in ast.walk(around)
        if isinstance(item, ast.Constant)
        and isinstance(item.value, kind)
        and not isinstance(item.value, bool)
    ]
    return list(dict.fromkeys(found))[:8]


def one_off(spot: Spot) -> Iterator[Edit]:
    """`x` becomes `x + 1` and `x - 1`; `x + 1` becomes `x`."""
    node, parent = spot.node, spot.parent
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        for kept, gone in ((node.left, node.right), (node.right, node.left)):
            cost = 1.3 if isinstance(gone, ast.Constant) else 2.6
            yield spot.replace(node, spot.in_place(kept), "one off", cost)
    elif isinstance(node, ast.BinOp):
        for kept in (node.left, node.right):
            yield spot.replace(node, spot.in_place(kept), "operand left out", 3.0)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.BinOp, ast.Call)):
        return
    if not _may_count(spot) or spot.field_of("func") or isinstance(parent, ast.Attribute):
        return
    place = isinstance(parent, (ast.Slice, ast.Subscript, ast.BinOp)) or _is_bound(parent)
    cost = 1.5 if place else 2.1
    for change in ("+ 1", "- 1"):
        text = f"{spot.text(node)} {change}"
        inside = isinstance(parent, (ast.BinOp, ast.UnaryOp))
        yield spot.replace(node, f"({text})" if inside else text, "one off", cost)


def _is_bound(parent: ast.AST | None) -> bool:
    name = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(name, ast.Name) and name.id in ("range", "min", "max")


def _may_count(spot: Spot) -> bool:
    """Whether a number can stand here."""
    context = getattr(spot.node, "ctx", None)
    if isinstance(context, (ast.Store, ast.Del)):
        return False
    kinds = (ast.Compare, ast.Return, ast.Call, ast.Slice, ast.BinOp, ast.Assign, ast.AugAssign)
    if isinstance(spot.parent, ast.Subscript):
        return spot.field_of("slice")
    return isinstance(spot.parent, (*kinds, ast.Tuple, ast.List, ast.IfExp))
