"""Fixtures written out where they are used, so that a test is one list of statements."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from greenloop.testsuite.scenarios.names import Function, children, free_names, get_dotted_name
from greenloop.testsuite.scenarios.nodes import copy_node, locate_like, name
from greenloop.testsuite.scenarios.reading.assertions import as_plain
from greenloop.testsuite.scenarios.reading.decorators import parameter_name
from greenloop.testsuite.scenarios.reading.renaming import rename
from greenloop.testsuite.scenarios.records import RefusedError

OF_INSTANCE = "self__"  # before the names that stand for attributes of the instance
REQUEST = "request"  # of pytest, of which only `request.param` is known here
_EXITS = (ast.Return, ast.Yield, ast.YieldFrom)


def wrap_in_fixture(fixture: Function, bound_to: str, inner: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a fixture with those that use it in the place of its `yield`.

    Raises:
        RefusedError: the fixture returns or yields in more than one place, or within a block.
    """
    nodes = [node for item in fixture.body for node in own_nodes(item)]
    arguments = {item.arg for item in fixture.args.args}
    local = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names = {key: f"{key}__{bound_to}" for key in local - arguments}
    parameter = _Parameter(parameter_name(bound_to))
    body = [parameter.visit(rename(copy_node(item), names)) for item in fixture.body]
    if any(REQUEST in free_names(item) for item in body):
        raise RefusedError(f"fixture {bound_to} that uses its request", fixture.lineno)
    exits = [at for at, item in enumerate(body) if _is_exit(item)]
    at = exits[0] if exits else len(body)
    returns = bool(exits) and isinstance(body[at], ast.Return)
    if len(exits) < sum(isinstance(node, _EXITS) for node in nodes) or len(exits) > 1:
        raise RefusedError(f"fixture {bound_to} with several results", fixture.lineno)
    if returns and at + 1 < len(body):
        raise RefusedError(f"fixture {bound_to} that returns before its end", fixture.lineno)
    found = getattr(body[at], "value", None) if exits else None
    value = getattr(found, "value", None) if isinstance(found, ast.Yield) else found
    target: list[ast.expr] = [ast.Name(bound_to, ast.Store())]
    bound = locate_like(ast.Assign(target, value or ast.Constant(None)), fixture)
    return [*body[:at], bound, *inner, *body[at + 1 :]]


class _Parameter(ast.NodeTransformer):
    """Replaces `request.param` by the name of a column."""

    def __init__(self, column: str) -> None:
        self._column = column

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if get_dotted_name(node) == f"{REQUEST}.param":
            return locate_like(name(self._column), node)
        self.generic_visit(node)
        return node


def _is_exit(node: ast.stmt) -> bool:
    is_yield = isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)
    return is_yield or isinstance(node, ast.Return)


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a statement without those inside the functions that it defines."""
    found = [node]
    if not isinstance(node, (Function, ast.Lambda)):
        for child in children(node):
            found += own_nodes(child)
    return found


_METHODS_OF_UNITTEST = frozenset({"subTest", "fail", "skipTest"})


class PlainForms(ast.NodeTransformer):
    """Gives assertions one form, and replaces attributes of a test's instance by names `self__x`."""

    def __init__(
        self, owners: set[str], methods: Mapping[str, Function], functions: Mapping[str, str]
    ) -> None:
        """`functions` are the names of functions that stand for some of the methods."""
        self._owners, self._methods, self._functions = owners, methods, functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave methods of other classes as they are."""
        if not {item.arg for item in node.args.args} & {"self", "cls"}:
            self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr | ast.Assign) -> ast.AST:
        return self.generic_visit(as_plain(node))

    visit_Assign = visit_Expr

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self._owners:
            if node.attr in self._functions:
                return locate_like(name(self._functions[node.attr]), node)
            if node.attr in self._methods:
                raise RefusedError("a method of the test class", node.lineno)
            if node.attr == "addCleanup":
                raise RefusedError("self.addCleanup", node.lineno)
            if node.attr.startswith("assert") or node.attr in _METHODS_OF_UNITTEST:
                return locate_like(name(node.attr), node)
            return locate_like(ast.Name(f"{OF_INSTANCE}{node.attr}", node.ctx), node)
        self.generic_visit(node)
        return node
