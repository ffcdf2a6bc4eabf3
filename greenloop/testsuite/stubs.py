"""Modules that keep their outside and do nothing: the stub of a contract, the hollow candidate."""

from __future__ import annotations

import ast


class _Hollowed(ast.NodeTransformer):
    """Replaces every function's body by `raise NotImplementedError`."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [*_docstring(node), _raise()]
        return self.generic_visit(node)  # lambdas among decorators and defaults

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body = [*_docstring(node), _raise()]
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        call = ast.parse("(_ for _ in ()).throw(NotImplementedError())", mode="eval").body
        return ast.Lambda(args=node.args, body=call)


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return node.body[:1] if ast.get_docstring(node) is not None else []


def _raise() -> ast.stmt:
    return ast.parse("raise NotImplementedError").body[0]


def hollow(source: str) -> str:
    """The module with every function raising NotImplementedError, its module level kept.

    Raises:
        SyntaxError: the source is no Python.
    """
    tree = _Hollowed().visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def stub(interface: str) -> str:
    """A module with a contract's interface, whose functions all raise NotImplementedError.

    Annotations are not evaluated: an interface may name types without importing them.

    Raises:
        SyntaxError: the interface is no Python.
    """
    tree = ast.parse(hollow(interface))
    at = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    tree.body[at:at] = ast.parse("from __future__ import annotations").body
    return ast.unparse(tree) + "\n"
