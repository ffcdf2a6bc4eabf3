"""What the names of a test are bound to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from greenloop.testsuite.scenarios.names import Function, all_names, get_dotted_name
from greenloop.testsuite.scenarios.scope import Scope
from greenloop.testsuite.scenarios.splitting.steps import OBSERVERS

OPERATORS = "operators__."
_BUILT_IN = frozenset(dir(builtins))
_Definition = (Function, ast.ClassDef)


class Binding(NamedTuple):
    """A target with its value, which is gone through in a loop."""

    target: ast.AST
    value: ast.AST
    is_loop: bool = False


def get_observed(node: ast.AST) -> ast.expr | None:
    """Return the expression that an observation evaluates; None for other nodes."""
    call = node.value if isinstance(node, ast.Await) else node
    if isinstance(call, ast.Call) and get_dotted_name(call.func) in OBSERVERS:
        return getattr(call.args[1], "body", call.args[1])
    return None


class Bindings:
    """The bindings in some nodes, and which of the names have values of the test itself."""

    def __init__(self, nodes: Iterable[ast.AST], scope: Scope) -> None:
        self.literals = scope.literals
        self.all: list[Binding] = []
        self._own: set[str] = set()
        code = {*scope.imported, *scope.process_modules}
        pending: list[tuple[set[str], set[str]]] = []
        for item in (found for node in nodes for found in _list_bindings(node)):
            names = all_names(item.target)
            if get_observed(item.value) is not None:
                code |= names
                continue
            self.all.append(item)
            self._own |= names
            pending.append((names, all_names(item.value)))
        while more := {n for names, used in pending if used & code for n in names} - code:
            code |= more
        self._own -= code

    def is_code(self, node: ast.AST) -> bool:
        """Return whether a node is a call of the code, or of a method of what the code gives."""
        if not isinstance(node, ast.Call):
            return False
        is_operator = get_dotted_name(node.func).startswith(OPERATORS)
        asked = node.args[0] if is_operator else node.func
        return not all_names(asked) <= self._own | _BUILT_IN

    def is_own_part(self, node: ast.AST) -> bool:
        """Return whether a node is a value of the test itself, or a part of one."""
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._own


def _list_bindings(node: ast.AST) -> Iterator[Binding]:
    """Yield what a node binds."""
    if isinstance(node, ast.Assign):
        yield from (Binding(target, node.value) for target in node.targets)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield Binding(node.target, node.iter, is_loop=True)
    elif isinstance(node, _Definition):
        yield Binding(ast.Name(node.name, ast.Store()), node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            given = [*node.value.args, *(item.value for item in node.value.keywords)]
            owner = function.value.id
            yield from (Binding(ast.Name(owner, ast.Store()), item) for item in given)
