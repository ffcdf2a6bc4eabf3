"""Awaited values and results of helpers in statements of their own"""

from __future__ import annotations

import ast
from collections.abc import Callable

from greenloop.testsuite.scenarios.names import Function, dotted_name
from greenloop.testsuite.scenarios.nodes import located
from greenloop.testsuite.scenarios.reading.inlining import load


class Hoisting(ast.NodeTransformer):
    """Moves awaited values and results of helper methods into statements of their own."""

    def __init__(
        self, helper: Callable[[ast.AST], Function | None], number: Callable[[], int]
    ) -> None:
        self._helper, self._number = helper, number
        self.statements: list[ast.stmt] = []
        self.has_helper = False

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip
    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _skip

    def visit_Expr(self, node: ast.Expr | ast.Assign) -> ast.AST:
        """Leave what is awaited in place, as it is in a statement of its own already."""
        value = node.value
        if isinstance(value, ast.Await):
            value.value = self.visit(value.value)
            return node
        return self.generic_visit(node)

    visit_Assign = visit_Expr

    def visit_Await(self, node: ast.Await) -> ast.expr:
        if self._helper(node.value) is None:
            self.generic_visit(node)
        else:
            self.has_helper = True
        return self._hoist(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if is_asyncio_run(node):
            return self.visit_Await(located(ast.Await(node.args[0]), node))
        self.generic_visit(node)
        if self._helper(node) is None:
            return node
        self.has_helper = True
        return self._hoist(node)

    def _hoist(self, value: ast.expr) -> ast.expr:
        key = f"value__{self._number()}"
        target = ast.Name(key, ast.Store())
        self.statements.append(located(ast.Assign([target], value), value))
        return load(key, value)


def is_asyncio_run(node: ast.AST) -> bool:
    is_run = isinstance(node, ast.Call) and dotted_name(node.func) == "asyncio.run"
    return is_run and len(getattr(node, "args", ())) == 1


def as_awaited(node: ast.stmt) -> ast.stmt:
    """Return a statement that awaits what it would run in an event loop of its own."""
    if isinstance(node, (ast.Expr, ast.Assign)) and is_asyncio_run(node.value):
        node.value = located(ast.Await(node.value.args[0]), node)  # type: ignore[attr-defined]
    return node
