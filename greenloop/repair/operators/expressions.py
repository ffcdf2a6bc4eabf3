"""Comparisons, arithmetic, `and` and `or`, `not`, augmented assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITE = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
_ORDER = ("<", "<=", ">", ">=")
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NEAR: dict[str, tuple[str, ...]] = {
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
_TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)


def comparison(spot: Spot) -> Iterator[Edit]:
    node = spot.node
    if not isinstance(node, ast.Compare):
        return
    for left, right in pairwise([node.left, *node.comparators]):
        place = spot.source.sign_between(left, right)
        if place is None:
            continue
        sign = " ".join(spot.source.text[place[0] : place[1]].split())
        if sign in _BOUNDARY:
            yield spot.span(*place, _BOUNDARY[sign], "boundary", 1.0)
            yield spot.span(*place, _MIRRORED[sign], "comparison", 1.5)
            others = set(_ORDER) - {sign, _BOUNDARY[sign], _MIRRORED[sign]}
            for other in (*sorted(others), "==", "!="):
                yield spot.span(*place, other, "comparison", 1.8 if other in others else 2.2)
        elif sign in _OPPOSITE:
            yield spot.span(*place, _OPPOSITE[sign], "comparison", 1.4)
            for other in _ORDER if sign in ("==", "!=") else ():
                yield spot.span(*place, other, "comparison", 2.0)
    yield from _shorter(spot, node)


def _shorter(spot: Spot, node: ast.Compare) -> Iterator[Edit]:
    """`low <= x <= high` loses an end."""
    if len(node.comparators) > 1:
        start, end = spot.source.span(node)
        yield spot.span(spot.source.span(node.comparators[-2])[1], end, "", "comparison", 2.8)
        yield spot.span(start, spot.source.span(node.comparators[0])[0], "", "comparison", 2.8)


def arithmetic(spot: Spot) -> Iterator[Edit]:
    node = spot.node
    if not isinstance(node, ast.BinOp):
        return
    place = spot.source.sign_between(node.left, node.right)
    if place is None:
        return
    left, right = spot.atom(node.left), spot.atom(node.right)
    sign = spot.source.text[place[0] : place[1]]
    if not (isinstance(node.left, _TEXTS) or _is_text(node.left) or _is_text(node.right)):
        for number, other in enumerate(_NEAR.get(sign, ())):
            text = f"{left} {other} {right}"
            if isinstance(spot.parent, (ast.BinOp, ast.UnaryOp)):
                text = f"({text})"
            yield spot.replace(node, text, "arithmetic", 1.4 + 0.3 * number)
    if sign in ("-", "/", "//", "%", "**", "+"):
        swapped = f"{right} {sign} {left}"
        if isinstance(spot.parent, (ast.BinOp, ast.UnaryOp)):
            swapped = f"({swapped})"
        yield spot.replace(node, swapped, "swapped operands", 1.5 if sign != "+" else 2.4)
    yield from _regrouped(spot, node)


def _regrouped(spot: Spot, node: ast.BinOp) -> Iterator[Edit]:
    """`a + b / c` becomes `(a + b) / c`, and `(a + b) / c` the other."""
    for inner, other, before in ((node.right, node.left, True), (node.left, node.right, False)):
        if not isinstance(inner, ast.BinOp):
            continue
        near, far = (inner.left, inner.right) if before else (inner.right, inner.left)
        outer_sign, inner_sign = _sign(spot, node), _sign(spot, inner)
        if not outer_sign or not inner_sign:
            continue
        if before:
            text = (
                f"({spot.atom(other)} {outer_sign} {spot.atom(near)}) {inner_sign} {spot.atom(far)}"
            )
        else:
            text = (
                f"{spot.atom(far)} {inner_sign} ({spot.atom(near)} {outer_sign} {spot.atom(other)})"
            )
        yield spot.replace(node, text, "precedence", 1.2)


def _sign(spot: Spot, node: ast.BinOp) -> str:
    place = spot.source.sign_between(node.left, node.right)
    return spot.source.text[place[0] : place[1]] if place else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def boolean(spot: Spot) -> Iterator[Edit]:
    """`and` for `or`; one part left out; `a and b or c` grouped otherwise."""
    node = spot.node
    if not isinstance(node, ast.BoolOp):
        return
    other = "or" if isinstance(node.op, ast.And) else "and"
    parts = [spot.atom(item) for item in node.values]
    for at, (left, right) in enumerate(pairwise(node.values)):
        place = spot.source.sign_between(left, right)
        if place is None:
            continue
        head = spot.source.text[spot.source.span(node)[0] : place[0]]
        tail = spot.source.text[place[1] : spot.source.span(node)[1]]
        yield spot.replace(node, f"({head}{other}{tail})", "and/or", 1.4)
        if len(parts) > 2:
            sign = "and" if other == "or" else "or"
            grouped = f"({parts[at]} {other} {parts[at + 1]})"
            whole = f" {sign} ".join([*parts[:at], grouped, *parts[at + 2 :]])
            yield spot.replace(node, f"({whole})", "and/or", 1.3)
    for at in range(len(parts)):
        kept = [spot.text(item) for n, item in enumerate(node.values) if n != at]
        sign = " and " if other == "or" else " or "
        yield spot.replace(node, f"({sign.join(kept)})", "condition left out", 2.6)


def negation(spot: Spot) -> Iterator[Edit]:
    """A condition, or a part of one, turned round."""
    node, parent = spot.node, spot.parent
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield spot.replace(node, spot.atom(node.operand), "sign", 1.6)
        return
    if not isinstance(node, ast.expr) or isinstance(node, ast.Compare):
        return
    if (
        (
            isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.BoolOp))
            and (isinstance(parent, ast.BoolOp) or spot.field_of("test"))
        )
        or (isinstance(parent, ast.comprehension) and node in parent.ifs)
        or (isinstance(parent, ast.Return) and not isinstance(node, (ast.Constant, ast.Tuple)))
    ):
        cost = 1.5 if not isinstance(parent, ast.Return) else 2.6
        yield spot.replace(node, f"not {spot.atom(node)}", "negation", cost)


def minus(spot: Spot) -> Iterator[Edit]:
    """`x` becomes `-x`, where numbers stand."""
    node, parent = spot.node, spot.parent
    numeric = isinstance(parent, (ast.Compare, ast.Return, ast.Call, ast.keyword, ast.BinOp))
    if isinstance(node, (ast.Name, ast.Attribute)) and numeric and not spot.field_of("func"):
        yield spot.replace(node, f"-{spot.text(node)}", "sign", 2.3)


def augmented(spot: Spot) -> Iterator[Edit]:
    """`x += y`, `x -= y` and `x = y` for each other."""
    node = spot.node
    if isinstance(node, ast.AugAssign):
        place = spot.source.sign_between(node.target, node.value)
        if place is None:
            return
        sign = spot.source.text[place[0] : place[1]].rstrip("=")
        for number, other in enumerate(_NEAR.get(sign, ())):
            yield spot.span(*place, f"{other}=", "assignment", 1.4 + 0.3 * number)
        yield spot.span(*place, "=", "assignment", 1.5)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        place = spot.source.sign_between(node.targets[0], node.value)
        if place is not None and not isinstance(node.targets[0], ast.Tuple):
            yield spot.span(*place, "+=", "assignment", 1.7)
            yield spot.span(*place, "-=", "assignment", 2.4)
            yield spot.span(*place, "*=", "assignment", 2.8)
