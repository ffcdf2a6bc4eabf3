"""Modules with empty bodies: the stub of a contract, and a candidate without behaviour."""

from __future__ import annotations

import ast


class _BodyEmptier(ast.NodeTransformer):
    """Replaces every function's body by `raise NotImplementedError`."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [*_get_docstring_statement(node), _build_raise()]
        return self.generic_visit(node)  # lambdas among decorators and defaults

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body = [*_get_docstring_statement(node), _build_raise()]
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        call = ast.parse("(_ for _ in ()).throw(NotImplementedError())", mode="eval").body
        return ast.Lambda(args=node.args, body=call)


def _get_docstring_statement(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return node.body[:1] if ast.get_docstring(node) is not None else []


def _build_raise() -> ast.stmt:
    return ast.parse("raise NotImplementedError").body[0]


def with_empty_bodies(source: str) -> str:
    """Return the module with every function raising NotImplementedError; module level is kept.

    Raises:
        SyntaxError: the source does not parse.
    """
    tree = _BodyEmptier().visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def build_stub(interface: str) -> str:
    """Return a module with a contract's interface whose functions raise NotImplementedError.

    Annotations are not evaluated: an interface may name types without importing them.

    Raises:
        SyntaxError: the interface does not parse.
    """
    tree = ast.parse(with_empty_bodies(interface))
    at = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    tree.body[at:at] = ast.parse("from __future__ import annotations").body
    return ast.unparse(tree) + "\n"
