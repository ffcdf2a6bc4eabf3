"""Another variable, another attribute, arguments swapped, a missing `self.`"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

_LIKENESS = 3


def variable(spot: Spot) -> Iterator[Edit]:
    """Another name at hand in place of this; those that are used alike first."""
    node, scope = spot.node, spot.scope
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return
    text = spot.text(node)
    if text not in scope.variables:
        return
    stored = isinstance(node.ctx, ast.Store)
    if stored and isinstance(spot.parent, (ast.comprehension, ast.For, ast.Tuple)):
        return
    for other in (*scope.variables, *(scope.constants if not stored else ())):
        if other not in (text, "_"):
            cost = 1.5 if scope.alike(text, other) else 2.1
            cost -= 0.2 * _alike_spelt(text, other)
            yield spot.replace(node, other, "variable", cost + 0.6 * stored)


def _alike_spelt(one: str, other: str) -> bool:
    return one[:_LIKENESS] == other[:_LIKENESS] or one[-_LIKENESS:] == other[-_LIKENESS:]


def attribute(spot: Spot) -> Iterator[Edit]:
    """`node.left` becomes `node.right`: another attribute that the module uses."""
    node = spot.node
    if not isinstance(node, ast.Attribute) or spot.text(node) in spot.scope.variables:
        return
    if isinstance(spot.parent, ast.Call) and spot.field_of("func"):
        return
    base = ast.dump(node.value)
    seen = {node.attr}
    for other in ast.walk(spot.ancestors[0]):
        if isinstance(other, ast.Attribute) and other.attr not in seen and not _called(spot, other):
            seen.add(other.attr)
            cost = 1.5 if ast.dump(other.value) == base else 2.3
            text = f"{spot.atom(node.value)}.{other.attr}"
            yield spot.replace(node, text, "attribute", cost)


def _called(spot: Spot, wanted: ast.Attribute) -> bool:
    return any(
        isinstance(item, ast.Call) and item.func is wanted for item in ast.walk(spot.ancestors[0])
    )


def method(spot: Spot) -> Iterator[Edit]:
    """`self.a()` becomes `self.b()`, `f(x)` becomes `g(x)`: of the same class or module."""
    node, scope = spot.node, spot.scope
    if not isinstance(node, ast.Call):
        return
    called = node.func
    if isinstance(called, ast.Name) and called.id in scope.functions:
        for other in scope.functions:
            if other != called.id:
                yield spot.replace(called, other, "function", 2.2)
    elif isinstance(called, ast.Attribute) and called.attr in scope.methods:
        for other in scope.methods:
            if other != called.attr:
                text = f"{spot.atom(called.value)}.{other}"
                yield spot.replace(called, text, "function", 2.3)


def missing_self(spot: Spot) -> Iterator[Edit]:
    node, own = spot.node, spot.scope.own
    if not own or not isinstance(node, ast.Name):
        return
    for name in (*spot.scope.attributes, *(f"{own}.{item}" for item in spot.scope.methods)):
        if name.partition(".")[2] in (node.id, f"_{node.id}"):
            yield spot.replace(node, name, "missing self", 1.2)
    if isinstance(node.ctx, ast.Store) and isinstance(spot.parent, ast.Assign):
        yield spot.replace(node, f"{own}.{node.id}", "missing self", 1.6)


def arguments(spot: Spot) -> Iterator[Edit]:
    """Two arguments, or two parts of a tuple, swapped; one left out; a name added."""
    node = spot.node
    if isinstance(node, ast.Call):
        for left, right in _pairs(node.args):
            yield _swapped(spot, left, right, 1.5)
        if len(node.args) > 1 or node.keywords:
            yield from _shorter(spot, node)
        yield from _longer(spot, node)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for left, right in _pairs(node.elts[:4]):
            yield _swapped(spot, left, right, 1.8)


def _pairs(nodes: list[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for at, left in enumerate(nodes):
        for right in nodes[at + 1 :]:
            yield left, right


def _swapped(spot: Spot, left: ast.expr, right: ast.expr, cost: float) -> Edit:
    start, end = spot.source.span(left)[0], spot.source.span(right)[1]
    between = spot.source.text[spot.source.span(left)[1] : spot.source.span(right)[0]]
    text = f"{spot.text(right)}{between}{spot.text(left)}"
    return spot.span(start, end, text, "swapped arguments", cost)


def _shorter(spot: Spot, node: ast.Call) -> Iterator[Edit]:
    parts = [*(spot.text(item) for item in node.args), *(_keyword(spot, k) for k in node.keywords)]
    for at in range(len(parts)):
        text = f"{spot.text(node.func)}({', '.join(parts[:at] + parts[at + 1 :])})"
        yield spot.replace(node, text, "argument left out", 2.6)


def _keyword(spot: Spot, keyword: ast.keyword) -> str:
    value = spot.text(keyword.value)
    return f"{keyword.arg}={value}" if keyword.arg else f"**{value}"


def _longer(spot: Spot, node: ast.Call) -> Iterator[Edit]:
    """Only what the called function of this module takes."""
    target = _definition(spot, node)
    if target is None:
        return
    own = bool(spot.scope.own) and isinstance(node.func, ast.Attribute)
    names = [item.arg for item in (*target.args.posonlyargs, *target.args.args)][own:]
    given = {item.arg for item in node.keywords}
    inner = [*(spot.text(item) for item in node.args), *(_keyword(spot, k) for k in node.keywords)]
    for name in [*names[len(node.args) :], *(item.arg for item in target.args.kwonlyargs)]:
        if name in given:
            continue
        for value in dict.fromkeys((name, *spot.scope.variables, "True", "False", "1", "0")):
            if value in (*spot.scope.variables, "True", "False", "1", "0"):
                added = f"{name}={value}"
                text = f"{spot.text(node.func)}({', '.join([*inner, added])})"
                yield spot.replace(node, text, "argument added", 1.8 if value == name else 2.5)


def _definition(spot: Spot, node: ast.Call) -> ast.FunctionDef | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for item in ast.walk(spot.ancestors[0]):
        if isinstance(item, ast.FunctionDef) and item.name == name:
            return item
    return None
