"""What is returned and raised; defaults; branches of an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

_EXCEPTIONS = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError")
_MORE = ("ZeroDivisionError", "LookupError", "RuntimeError", "OSError", "Exception")
_CONSTANTS = ("None", "True", "False", "0", "1", "-1", "[]", '""', "{}")


def returned(spot: Spot) -> Iterator[Edit]:
    """Another variable, a constant, or the first of what is returned."""
    node = spot.node
    if not isinstance(node, ast.Return):
        return
    if node.value is None:
        for name in (*spot.scope.variables, spot.scope.own, *_CONSTANTS[1:]):
            if name:
                cost = 1.8 if name in spot.scope.variables else 2.6
                yield spot.replace(node, f"return {name}", "return", cost)
        return
    old = spot.text(node.value)
    for name in spot.scope.variables:
        if name != old and not isinstance(node.value, (ast.Name, ast.Attribute)):
            yield spot.replace(node.value, name, "return", 2.4)
    for text in dict.fromkeys((*spot.hints.values, *_CONSTANTS)):
        if text != old:
            plain = isinstance(node.value, (ast.Constant, ast.Name))
            yield spot.replace(node.value, text, "return", 2.2 if plain else 3.4)


def exception(spot: Spot) -> Iterator[Edit]:
    """Another exception raised, or caught."""
    node = spot.node
    if isinstance(node, ast.Raise) and node.exc is not None:
        named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        yield from _others(spot, named)
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield from _others(spot, node.type)
        for _, name in spot.hints.crashes:
            text = f"({spot.text(node.type)}, {name})"
            if not isinstance(node.type, ast.Tuple) and name.isidentifier():
                yield spot.replace(node.type, text, "exception", 2.0)


def _others(spot: Spot, named: ast.expr) -> Iterator[Edit]:
    tree = spot.ancestors[0]
    own = [item.name for item in ast.walk(tree) if isinstance(item, ast.ClassDef)]
    raised = [name for _, name in spot.hints.crashes if name.isidentifier()]
    wanted = [*spot.hints.raising, *raised]
    for name in dict.fromkeys((*wanted, *own, *_EXCEPTIONS, *_MORE)):
        if name != spot.text(named):
            cost = 1.4 if name in wanted else 1.8 if name in (*own, *_EXCEPTIONS) else 2.2
            yield spot.replace(named, name, "exception", cost)


def default(spot: Spot) -> Iterator[Edit]:
    """A mutable default, made anew for each call."""
    node = spot.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    plain = [*node.args.posonlyargs, *node.args.args]
    pairs = list(
        zip(plain[len(plain) - len(node.args.defaults) :], node.args.defaults, strict=True)
    )
    pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    for argument, value in pairs:
        empty = isinstance(value, (ast.List, ast.Dict, ast.Set, ast.Call))
        first = _first(node)
        if not empty or first is None:
            continue
        head = spot.source.line_start(first.lineno)
        indent = spot.source.text[head : spot.source.span(first)[0]]
        if indent.strip():
            continue
        start, end = spot.source.span(value)
        name = argument.arg
        made = f"{indent}if {name} is None:\n{indent}    {name} = {spot.text(value)}\n"
        text = "None" + spot.source.text[end:head] + made
        yield spot.span(start, head, text, "mutable default", 1.2)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt | None:
    """The first statement after the docstring."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[0] if body and body[0].lineno > node.lineno else None


def branches(spot: Spot) -> Iterator[Edit]:
    """`a if c else b` with its values swapped, or one of them alone."""
    node = spot.node
    if not isinstance(node, ast.IfExp):
        return
    body, test, other = (spot.text(item) for item in (node.body, node.test, node.orelse))
    yield spot.replace(node, f"{other} if {test} else {body}", "swapped branches", 1.5)
    yield spot.replace(node, f"({body})", "branch left out", 2.8)
    yield spot.replace(node, f"({other})", "branch left out", 2.8)


def expression(spot: Spot) -> Iterator[Edit]:
    """Another expression of the same function in place of one of the same kind."""
    node = spot.node
    kinds = (ast.Subscript, ast.Call, ast.BinOp, ast.Compare, ast.Attribute)
    if not isinstance(node, kinds) or isinstance(spot.parent, ast.Expr):
        return
    if isinstance(getattr(node, "ctx", None), ast.Store) or spot.field_of("func"):
        return
    old = ast.unparse(node)
    donors = spot.scope.conditions if isinstance(node, ast.Compare) else spot.scope.donors
    for text in donors:
        if text != old:
            cost = 3.0 if text[:_SAME] == old[:_SAME] else 3.4
            yield spot.replace(node, text, "expression", cost)


_SAME = 4
