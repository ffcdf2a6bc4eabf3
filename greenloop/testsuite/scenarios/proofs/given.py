"""The proof that names of a scenario are inputs: each is given to the code, not only held beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from greenloop.testsuite.scenarios.names import (
    Function,
    all_names,
    bound_names,
    children,
    get_dotted_name,
    walk,
)
from greenloop.testsuite.scenarios.proofs.bindings import get_observed
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.splitting.functions import MUTATING_METHODS

_Display = (ast.List, ast.Tuple, ast.Dict, ast.Set)
_ACTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.For)


def check_given(scenario: Function, columns: Iterable[str], objects: Iterable[str]) -> None:
    """Check that columns, and what is assigned, reach a call of the code.

    A value that is put beside an answer, as into one list, is what a test expects as likely as not.
    `objects` are names of instances of the module's classes, to whose operators operands are given.

    Raises:
        RefusedError: one does not.
    """
    flow = _Flow(scenario, frozenset(objects))
    for name in sorted({*columns, *flow.filled} & flow.held.keys() - flow.find_given()):
        raise RefusedError("an expected value would reach the code", flow.held[name])


class _Flow:
    """What flows where: `held` are names outside of calls with a line, `filled` those with content."""

    def __init__(self, scenario: Function, objects: frozenset[str]) -> None:
        self.held: dict[str, int] = {}
        self.filled: set[str] = set()
        self._objects = objects
        self._given: set[str] = set()
        self._sources: dict[str, set[str]] = {}
        nodes = list(walk(scenario))
        self._containers = {
            name
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, _Display)
            for name in bound_names(node.targets[0])
        }
        for node in nodes:
            if isinstance(node, _ACTS):
                self._add(node)
            elif isinstance(node, (Function, ast.ClassDef)) and node is not scenario:
                self._sources[node.name] = all_names(node)
            elif isinstance(node, ast.withitem):
                self._given |= all_names(node.context_expr)

    def find_given(self) -> set[str]:
        """Return the names that a call of the code is given, or what is made of them."""
        found, pending = set[str](), list(self._given)
        while pending:
            if (name := pending.pop()) not in found:
                found.add(name)
                pending += self._sources.get(name, ())
        return found

    def _add(self, node: ast.stmt) -> None:
        """Follow the values of one statement to the names that it binds."""
        value, targets = _value_and_targets(node)
        observed = get_observed(value)
        expression = value if observed is None else observed
        names = {name for target in targets for name in bound_names(target)}
        if mutated := self._find_mutated(expression):
            names, parts = {mutated}, _arguments(expression)
        else:
            parts = [expression]
        found = {name for part in parts for name in self._hold(part)}
        for name in names:
            self._sources.setdefault(name, set()).update(found)
        if observed is None and any(isinstance(i, ast.Constant) for p in parts for i in walk(p)):
            self.filled |= names

    def _find_mutated(self, node: ast.expr) -> str:
        """Return the name of the test's own container that a call changes, '' for none."""
        called = get_dotted_name(node.func) if isinstance(node, ast.Call) else ""
        owner, _, method = called.rpartition(".")
        if called == "operators__.setitem":
            owner, method = get_dotted_name(_arguments(node)[0]), "append"
        return owner if owner in self._containers and method in MUTATING_METHODS else ""

    def _hold(self, node: ast.AST) -> Iterator[str]:
        """Yield the names of an expression, and note those that no call is given."""
        is_operator = isinstance(node, (ast.BinOp, ast.Compare, ast.Subscript)) and bool(
            self._objects & all_names(node)
        )
        if isinstance(node, (ast.Call, ast.Await)) or is_operator:
            self._given |= all_names(node)
            yield from all_names(node)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.held.setdefault(node.id, getattr(node, "lineno", 0))
            yield node.id
        for child in children(node):
            if isinstance(node, ast.BinOp) and isinstance(child, ast.Constant):
                self.held[name := repr(child.value)] = getattr(node, "lineno", 0)
                self.filled.add(name)
                yield name
            yield from self._hold(child)


def _value_and_targets(node: ast.stmt) -> tuple[ast.expr, list[ast.expr]]:
    if isinstance(node, ast.For):
        return node.iter, [node.target]
    if isinstance(node, ast.AugAssign):
        return node.value, [node.target]
    return node.value, getattr(node, "targets", [])  # type: ignore[attr-defined]


def _arguments(node: ast.expr) -> list[ast.expr]:
    return (
        [*node.args, *(item.value for item in node.keywords)] if isinstance(node, ast.Call) else []
    )
