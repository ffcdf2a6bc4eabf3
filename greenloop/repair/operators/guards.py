"""Missing guards: an early way out, a condition that comes first, a value for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.repair.operators.blocks import Block, before, block, body_of
from greenloop.repair.scope import Function
from greenloop.syntax.edit import Edit

_RESULTS = ("None", "0", "[]", "False", "True", '""', "1", "{}", "-1", "0.0")
_MOST_RESULTS = 7


def early_way_out(spot: Spot) -> Iterator[Edit]:
    """`if not x: return …` at the head of a function; `raise …` where a test missed an exception."""
    node, scope = spot.node, spot.scope
    if not isinstance(node, ast.stmt) or not isinstance(spot.parent, Function):
        return
    body = spot.parent.body
    with_text = ast.get_docstring(spot.parent, clean=False) is not None
    if node is not (body[1] if with_text and len(body) > 1 else body[0]):
        return
    here = block(spot, node)
    if here is None:
        return
    for name in (*scope.parameters, *scope.attributes):
        for number, condition in enumerate(_nothing(name)):
            cost = 2.6 + 0.2 * number + (0 if name in scope.parameters else 0.3)
            yield from _ways_out(spot, here, condition, cost, scope.parameters)


def _nothing(name: str) -> tuple[str, ...]:
    return (f"not {name}", f"{name} is None", f"{name} == 0", f"{name} < 0", f"{name} <= 1")


def _ways_out(
    spot: Spot, here: Block, condition: str, cost: float, names: tuple[str, ...]
) -> Iterator[Edit]:
    for name in spot.hints.raising:
        line = f'if {condition}:\n    raise {name}("{condition}")'
        yield before(spot, here, line, "guard", cost - 0.2)
    if spot.hints.raising and not spot.hints.crashes and not spot.hints.values:
        return
    results = dict.fromkeys((*spot.hints.values, *_RESULTS))
    for number, result in enumerate([*list(results)[:_MOST_RESULTS], *names]):
        expected = result in spot.hints.values
        more = 0.0 if expected else 0.4 + 0.05 * number
        yield before(spot, here, f"if {condition}:\n    return {result}", "guard", cost + more)


def crash(spot: Spot) -> Iterator[Edit]:
    """A guard before the statement in which an exception came up that no test wants."""
    node = spot.node
    if not isinstance(node, ast.stmt) or body_of(spot) is None:
        return
    names = {name for line, name in spot.hints.crashes if _holds(node, line)}
    here = block(spot, node) if names and not isinstance(node, Function) else None
    if here is None:
        return
    for condition in dict.fromkeys(_dangers(spot, node, names)):
        yield from _ways_out(spot, here, condition, 2.0, ())
        yield before(spot, here, f"if {condition}:\n    continue", "guard", 2.7)
        yield before(spot, here, f"if {condition}:\n    break", "guard", 2.8)


def _holds(node: ast.stmt, line: int) -> bool:
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
    return node.lineno <= line <= max(node.lineno, last or 0)


def _dangers(spot: Spot, node: ast.stmt, names: set[str]) -> Iterator[str]:
    """Conditions under which what stands in a statement fails in that way."""
    for item in _own_nodes(node):
        if (
            "ZeroDivisionError" in names
            and isinstance(item, ast.BinOp)
            and isinstance(item.op, (ast.Div, ast.FloorDiv, ast.Mod))
        ):
            if isinstance(item.right, ast.Call) and spot.text(item.right.func) == "len":
                yield f"not {spot.text(item.right.args[0])}"
            else:
                yield f"{spot.atom(item.right)} == 0"
        if isinstance(item, ast.Subscript) and names & {"IndexError", "KeyError"}:
            yield f"not {spot.atom(item.value)}"
            yield f"{spot.text(item.slice)} not in {spot.atom(item.value)}"
            yield f"{spot.text(item.slice)} >= len({spot.text(item.value)})"
        if isinstance(item, ast.Attribute) and names & {"AttributeError"}:
            yield f"{spot.atom(item.value)} is None"
        if isinstance(item, ast.Call) and names & {"ValueError", "IndexError", "StatisticsError"}:
            for argument in item.args[:1]:
                if isinstance(argument, (ast.Name, ast.Attribute)):
                    yield f"not {spot.text(argument)}"
            if isinstance(item.func, ast.Attribute) and not item.args:
                yield f"not {spot.atom(item.func.value)}"
        if isinstance(item, ast.Name) and names & {"TypeError"} and isinstance(item.ctx, ast.Load):
            yield f"{item.id} is None"


def _own_nodes(node: ast.stmt) -> Iterator[ast.AST]:
    """Of a compound statement only its head."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


def conditioned(spot: Spot) -> Iterator[Edit]:
    """`c` becomes `known and c` or `known or c`: what a crash shows, or another condition here."""
    node, parent = spot.node, spot.parent
    if not isinstance(node, ast.expr) or isinstance(node, ast.BoolOp):
        return
    test = isinstance(parent, (ast.If, ast.While, ast.IfExp)) and spot.field_of("test")
    if not (test or (isinstance(parent, ast.comprehension) and node in parent.ifs)):
        return
    text = spot.atom(node) if not isinstance(node, ast.Compare) else spot.text(node)
    for item in ast.walk(node):
        if isinstance(item, ast.Subscript) and not isinstance(item.slice, ast.Slice):
            base, index = spot.text(item.value), spot.text(item.slice)
            yield spot.replace(node, f"{index} < len({base}) and {text}", "condition", 2.0)
            yield spot.replace(node, f"{base} and {text}", "condition", 2.0)
            yield spot.replace(node, f"{index} in {base} and {text}", "condition", 2.4)
        elif isinstance(item, ast.Attribute):
            yield spot.replace(node, f"{spot.text(item.value)} and {text}", "condition", 2.6)
    for name in spot.scope.variables:
        yield spot.replace(node, f"{name} and {text}", "condition", 2.9)
        yield spot.replace(node, f"not {name} or {text}", "condition", 3.1)
        yield spot.replace(node, f"{name} is None or {text}", "condition", 2.9)
    for other in spot.scope.conditions:
        if other != text:
            yield spot.replace(node, f"{other} and {text}", "condition", 3.0)
            yield spot.replace(node, f"{other} or {text}", "condition", 3.1)


def instead(spot: Spot) -> Iterator[Edit]:
    """`x` becomes `x or …` or `x if y else …`; `max(x)` gets a default."""
    node, parent = spot.node, spot.parent
    if isinstance(node, ast.Call) and spot.text(node.func) in ("min", "max"):
        inner = ", ".join([*map(spot.text, node.args), *_keywords(spot, node)])
        for value in ("0", "None") if len(node.args) == 1 else ():
            text = f"{spot.text(node.func)}({inner}, default={value})"
            yield spot.replace(node, text, "default", 2.2)
    if not isinstance(node, ast.expr) or not isinstance(parent, (ast.Assign, ast.Return)):
        return
    if not spot.field_of("value") or isinstance(node, (ast.Constant, ast.IfExp)):
        return
    for value in (*spot.hints.values[:2], "[]", "0", "None", "{}"):
        yield spot.replace(node, f"{spot.atom(node)} or {value}", "default", 2.9)
        for name in spot.scope.parameters:
            text = f"{spot.text(node)} if {name} else {value}"
            yield spot.replace(node, text, "default", 2.9)


def _keywords(spot: Spot, node: ast.Call) -> list[str]:
    return [f"{item.arg}={spot.text(item.value)}" for item in node.keywords if item.arg]
