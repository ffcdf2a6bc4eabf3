"""Construction of syntax trees from templates."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from greenloop.testsuite.scenarios.names import walk

_Node = TypeVar("_Node", bound=ast.AST)


def copy_node(node: _Node) -> _Node:
    """Return a copy of a tree; `copy.deepcopy` takes five times as long."""
    made = type(node)()
    for key, value in vars(node).items():
        vars(made)[key] = _copy_part(value)
    return made


def _copy_part(value: Any) -> Any:
    if type(value) is list:
        return [_copy_part(item) for item in value]
    return copy_node(value) if isinstance(value, ast.AST) and value._fields else value


def copy_unplaced(node: _Node) -> _Node:
    """Return a copy of a tree without its places."""
    made: _Node = _fill(node, {})
    return made


def _fill(node: Any, parts: Mapping[str, ast.expr]) -> Any:
    """Return a copy of a tree without its places, and the parts in the place of their names."""
    if isinstance(node, list):
        return [_fill(item, parts) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in parts:
        return parts[node.id]
    made = type(node)()
    for key in node._fields:
        vars(made)[key] = _fill(getattr(node, key, None), parts)
    return made


@cache
def _parse(template: str) -> ast.stmt:
    return ast.parse(template).body[0]


def statement(template: str, **parts: ast.expr) -> ast.stmt:
    """Return the statement of a template, its names `_x` replaced by the parts themselves."""
    made: ast.stmt = _fill(_parse(template), parts)
    return made


def expression(template: str, **parts: ast.expr) -> ast.expr:
    """Return the expression of a template, its names `_x` replaced by the parts themselves."""
    made = statement(template, **parts)
    assert isinstance(made, ast.Expr)
    return made.value


def call_of(function: str, *constants: str | int) -> ast.Call:
    """Return a call with constants."""
    return ast.Call(name(function), [ast.Constant(item) for item in constants], [])


def locate_like(node: _Node, place: ast.AST) -> _Node:
    """Return the node at the place of another one, where it has none of its own."""
    for part in walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return ast.copy_location(node, place)


def tuple_of(items: list[ast.expr]) -> ast.Tuple:
    """Return a tuple expression."""
    return ast.Tuple(items, ast.Load())


def name(identifier: str) -> ast.Name:
    """Return an expression that is a name."""
    return ast.Name(identifier, ast.Load())


def as_target(node: ast.expr) -> ast.expr:
    """Return an expression as something that is assigned to."""
    changed = copy_node(node)
    for item in walk(changed):
        if isinstance(item, (ast.Name, ast.Tuple)):
            item.ctx = ast.Store()
    return changed


def build_function(
    label: str, parameters: list[str], body: list[ast.stmt], *, is_async: bool = False
) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return a function with these statements."""
    kind = ast.AsyncFunctionDef if is_async else ast.FunctionDef
    arguments = ast.arguments([], list(map(ast.arg, parameters)), None, [], [], None, [])
    body = body or [ast.Pass(lineno=1, col_offset=0)]
    return kind(label, arguments, body, [], lineno=1, col_offset=0)
