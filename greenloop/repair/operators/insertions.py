"""A missing statement: one as there are others in the module, or a usual one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.repair.operators.blocks import after, before, block, body_of, ends_a_way
from greenloop.repair.scope import Function
from greenloop.syntax.edit import Edit

_INITIAL = ("0", "[]", "{}", "None", "set()", '""')


def statement(spot: Spot) -> Iterator[Edit]:
    """Before each statement, and at the end of each body."""
    node = spot.node
    body = body_of(spot) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or spot.scope.function is None:
        return
    here = block(spot, node)
    if here is None or isinstance(node, Function):
        return
    last = node is body[-1] and not ends_a_way(node)
    for line, cost in _lines(spot):
        yield before(spot, here, line, "missing statement", cost)
        if last:
            yield after(spot, here, line, "missing statement", cost)
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in spot.ancestors)
    if last and in_loop and here.end:
        for line in ("break", "continue"):
            yield after(spot, here, line, "missing statement", 2.6)


def _lines(spot: Spot) -> Iterator[tuple[str, float]]:
    """Statements that use what is at hand here."""
    seen: set[str] = set()
    for line, cost in (*_donors(spot), *_usual(spot)):
        if line not in seen:
            seen.add(line)
            yield line, cost


def _donors(spot: Spot) -> list[tuple[str, float]]:
    """Simple statements of the module, those of the same function first."""
    own = [(line, 2.8) for line in spot.scope.own_statements]
    return [*own, *((line, 3.1) for line in spot.scope.other_statements)]


def _usual(spot: Spot) -> Iterator[tuple[str, float]]:
    scope = spot.scope
    for name in scope.variables:
        roles = scope.roles.get(name, frozenset())
        if name in scope.numbers or roles & {"operand", "AugAssign target"}:
            near = 2.0 if spot.hints.hangs else 2.8
            yield f"{name} += 1", near if name in scope.numbers else 2.8
            yield f"{name} -= 1", 2.9
        for call in ("append", "add"):
            if f".{call}" in roles:
                for other in scope.names:
                    if other != name:
                        yield f"{name}.{call}({other})", 3.0
        for call in ("pop()", "clear()"):
            if roles & {".pop", ".append", ".clear"}:
                yield f"{name}.{call}", 3.0
        for other in scope.names:
            if other != name and scope.alike(name, other):
                yield f"{name} = {other}", 3.0


def last_return(spot: Spot) -> Iterator[Edit]:
    """A function that ends without `return`."""
    node = spot.node
    if not isinstance(node, Function) or ends_a_way(node.body[-1]):
        return
    here = block(spot, node.body[-1])
    if here is None:
        return
    names = [*spot.scope.names, spot.scope.own, *spot.scope.attributes]
    for name in (*names, *spot.hints.values, "True", "False", "None"):
        if name:
            cost = 1.8 if name in spot.scope.names or name == spot.scope.own else 2.4
            yield after(spot, here, f"return {name}", "missing return", cost)
    last = node.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        yield spot.replace(last, f"return {spot.text(last)}", "missing return", 1.4)


def initial(spot: Spot) -> Iterator[Edit]:
    """A variable or attribute that is read and was never set."""
    node = spot.node
    if not isinstance(node, ast.stmt) or not isinstance(spot.parent, Function):
        return
    if not any(
        name in ("UnboundLocalError", "NameError", "AttributeError")
        for _, name in spot.hints.crashes
    ):
        return
    here = block(spot, node)
    if here is None:
        return
    for name in spot.scope.variables:
        for value in (*_INITIAL, *spot.scope.parameters):
            if value != name:
                yield before(spot, here, f"{name} = {value}", "missing start", 2.3)
