"""Modules that keep their outside and do nothing: the stub of a contract, the hollow candidate."""

from __future__ import annotations

import ast

_FUTURE = "from __future__ import annotations\n"


class _Hollowed(ast.NodeTransformer):
    """Replaces every function's body by `raise NotImplementedError`."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = [*_docstring(node), _raise()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.body = [*_docstring(node), _raise()]
        return node

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
    body = hollow(interface)
    return body if "from __future__ import annotations" in body else _FUTURE + body
