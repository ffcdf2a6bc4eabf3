"""Modules with empty bodies: the stub of a contract, and a candidate without behaviour."""

import ast
from collections.abc import Set

from greenloop.syntax.nodes import Function, list_lines
from greenloop.syntax.parse import cache_by_source

_FUNCTIONS = (Function, ast.Lambda)


class _BodyEmptier(ast.NodeTransformer):
    """Transformer of the bodies of functions on some lines to `raise NotImplementedError`."""

    def __init__(self, lines: Set[int] | None) -> None:
        self._lines = lines

    def visit(self, node: ast.AST) -> ast.AST:
        lines = self._lines if isinstance(node, _FUNCTIONS) else None
        if lines is not None and lines.isdisjoint(list_lines(node)):  # type: ignore[arg-type]
            return node
        return super().visit(node)  # type: ignore[no-any-return]

    def visit_FunctionDef(self, node: Function) -> ast.AST:
        docstring = node.body[:1] if ast.get_docstring(node) is not None else []
        node.body = [*docstring, *ast.parse("raise NotImplementedError").body]
        return self.generic_visit(node)  # lambdas among decorators and defaults

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        call = ast.parse("(_ for _ in ()).throw(NotImplementedError())", mode="eval").body
        return ast.Lambda(args=node.args, body=call)


def with_empty_bodies(source: str, lines: Set[int] | None = None) -> str:
    """Return the module with functions raising NotImplementedError; module level is kept.

    With `lines` only functions that contain one of these lines are emptied.
    Raises SyntaxError: the source does not parse.
    """
    tree = _BodyEmptier(lines).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@cache_by_source
def build_stub(interface: str) -> str:
    """Return a module with a contract's interface whose functions raise NotImplementedError.

    Annotations are not evaluated, as an interface may name types without importing them. Constants
    without a value are None, so that tests can import them.
    Raises SyntaxError: the interface does not parse.
    """
    tree = ast.parse(with_empty_bodies(interface))
    at = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value is None:
            node.value = ast.Constant(None)
    tree.body[at:at] = ast.parse("from __future__ import annotations").body
    return ast.unparse(tree) + "\n"
