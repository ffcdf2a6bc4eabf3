"""Programs of tests as plain statements, and their observations."""

from __future__ import annotations

import ast
from typing import Any

from greenloop.testsuite.variants.trees import copy_tree, is_observation


def number_observations(function: ast.AST) -> None:
    """Number the observations of a function anew, in place: those that were copied have one number."""
    calls: Any = [node for node in ast.walk(function) if _is_numbered(node)]
    for number, call in enumerate(calls, 1):
        call.args[0] = ast.Constant(number)


def _is_numbered(node: ast.AST) -> bool:
    return is_observation(node) and isinstance(node.args[0].value, int)  # type: ignore[attr-defined]


def render_statements(function: ast.AST, last: int) -> str:
    """Return the body of a program as plain statements, up to the observation of a number."""
    found: list[str] = []
    body = getattr(function, "body", [])
    for node in body[0].body if len(body) == 1 and isinstance(body[0], ast.Try) else body:
        made = _WithoutObservations().visit(copy_tree(node))
        found += map(ast.unparse, made if isinstance(made, list) else [made])
        calls: Any = (item for item in ast.walk(node) if _is_numbered(item))
        if any(item.args[0].value == last for item in calls):
            break
    return "\n".join(found)


class _WithoutObservations(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        is_raising = ast.unparse(node.items[0]).startswith("raising__(")
        return node.body if is_raising else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not is_observation(node):
            return node
        match node.func, node.args:
            case ast.Name(id="operate__"), [ast.Constant(value=name), left, right]:
                return ast.BinOp(left, getattr(ast, str(name))(), right)
            case ast.Name(id="attempt__"), [_, ast.Lambda(body=body)]:
                return body
            case ast.Name(id="see__"), [_, value]:
                return value
        return node
