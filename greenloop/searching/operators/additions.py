"""A missing statement: one as there are others in the module, or a usual one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.searching.edit import Edit
from greenloop.searching.operators.blocks import after, before, block, body_of, ends_a_way
from greenloop.searching.scope import Function
from greenloop.searching.spot import Spot

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
_MOST, _LONGEST = 25, 80
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
    own = set(ast.walk(spot.scope.function)) if spot.scope.function else set()
    known = {*spot.scope.names, *spot.scope.functions, *spot.scope.constants, spot.scope.own}
    found: list[tuple[str, float]] = []
    for item in ast.walk(spot.ancestors[0]):
        if not isinstance(item, _SIMPLE):
            continue
        if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant):
            continue
        text = ast.unparse(item)
        used = {n.id for n in ast.walk(item) if isinstance(n, ast.Name)}
        if len(text) <= _LONGEST and used - known <= _FREE:
            found.append((text, 2.8 if item in own else 3.1))
    return found[:_MOST]


_FREE = frozenset("len min max sum abs int str list set dict sorted range tuple float".split())


def _usual(spot: Spot) -> Iterator[tuple[str, float]]:
    scope = spot.scope
    for name in scope.variables:
        roles = scope.roles.get(name, frozenset())
        if "operand" in roles or "AugAssign target" in roles:
            yield f"{name} += 1", 2.8
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
