"""Controls: which assertions of a test file can be changed so that their test must fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from greenloop.grading.assertion_mutation.assertion_calls import (
    RAISING,
    WARNING,
    called,
    is_raising,
    of_raising,
    of_unittest,
)
from greenloop.grading.assertion_mutation.operators import Assertions, Change
from greenloop.grading.assertion_mutation.parametrize import in_decorator
from greenloop.syntax.source import Text
from greenloop.testsuite.parser import Function, has_hooks, is_test_class

# Context managers that let an error through.
_OPEN = frozenset(
    "open patch dict object multiple at_level context subTest TemporaryDirectory NamedTemporaryFile "
    "nullcontext closing catch_warnings chdir record localcontext".split()
)
# Decorators that let an error through.
_PLAIN = frozenset(
    "patch object dict multiple given settings example seed staticmethod classmethod".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVING = frozenset({"skip", "skipTest", "importorskip", "xfail", "exit"})


class Sure(IntEnum):
    """Whether an assertion is come by when its test passes."""

    MAYBE = 0  # in a branch
    LIKELY = 1  # in a loop
    CERTAIN = 2


@dataclass(frozen=True)
class Edit:
    """One assertion of one test (`name`, `Class::name`) with its change. `line` is 1-based."""

    test: str
    line: int
    change: Change
    sure: Sure
    function: ast.FunctionDef | ast.AsyncFunctionDef
    of_helper: bool = False


@dataclass(frozen=True)
class Scope:
    """What the walk through one test knows."""

    test: str
    function: ast.FunctionDef | ast.AsyncFunctionDef
    sure: Sure


class ControlledFile:
    """A test file's edits, by test. Raises SyntaxError, ValueError where it does not parse."""

    def __init__(self, code: str, module: str) -> None:
        tree = ast.parse(code)
        self.text = Text(code)
        self.own = _names_of(tree, module)
        self.hooked = has_hooks(code)
        self._assertions = Assertions(self.text, self.own)
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        most = Sure.LIKELY if self.hooked else Sure.CERTAIN
        self._helpers = {
            node.name: list(self._of(Scope("", node, Sure.MAYBE)))
            for node in ast.walk(tree)
            if isinstance(node, Function) and not node.name.startswith("test")
        }
        self.edits = {scope.test: self._edits(scope) for scope in self._tests(tree.body, "", most)}

    def _tests(self, body: list[ast.stmt], prefix: str, sure: Sure) -> Iterator[Scope]:
        for node in body:
            if isinstance(node, ast.ClassDef) and is_test_class(node):
                inner = sure if _lets_through(node.decorator_list) else Sure.LIKELY
                body = [*node.body, *self._inherited(node, frozenset())]
                yield from self._tests(body, f"{prefix}{node.name}::", inner)
            elif isinstance(node, Function) and node.name.startswith("test"):
                inner = sure if _lets_through(node.decorator_list) else Sure.LIKELY
                inner = inner if not _leaves_early(node) else Sure.MAYBE
                yield Scope(prefix + node.name, node, inner)

    def _inherited(self, node: ast.ClassDef, seen: frozenset[str]) -> Iterator[ast.stmt]:
        """Tests of its bases in the same file that it does not have itself."""
        own = {item.name for item in node.body if isinstance(item, Function)}
        for base in node.bases:
            found = self._classes.get(base.id) if isinstance(base, ast.Name) else None
            if found is None or found.name in seen:
                continue
            functions = [item for item in found.body if isinstance(item, Function)]
            yield from (item for item in functions if item.name not in own)
            yield from self._inherited(found, seen | {found.name})

    def _edits(self, scope: Scope) -> tuple[Edit, ...]:
        """Its own; where it has none, those of the helpers that it calls, all as one."""
        own = tuple(self._of(scope))
        if own:
            return own
        names = {node.id for node in ast.walk(scope.function) if isinstance(node, ast.Name)}
        names |= {n.attr for n in ast.walk(scope.function) if isinstance(n, ast.Attribute)}
        found = [edit for name in names for edit in self._helpers.get(name, ())]
        if not found:
            return ()
        first = {edit.line: edit for edit in reversed(found)}  # one a line: they must not overlap
        splices = tuple(splice for edit in first.values() for splice in edit.change.splices)
        line = min(first)
        change = Change(splices, first[line].change.said)
        return (Edit(scope.test, line, change, Sure.MAYBE, scope.function, of_helper=True),)

    def _of(self, scope: Scope) -> Iterator[Edit]:
        yield from self._body(scope.function.body, scope, scope.sure)

    def _body(self, body: list[ast.stmt], scope: Scope, sure: Sure) -> Iterator[Edit]:
        for node in body:
            yield from self._statement(node, scope, sure)

    def _statement(self, node: ast.stmt, scope: Scope, sure: Sure) -> Iterator[Edit]:
        if isinstance(node, ast.Assert):
            for change in self._assertions.changes(node.test):
                found = in_decorator(self.text, scope.function, change) or change
                yield Edit(scope.test, node.lineno, found, sure, scope.function)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            for change in self._of_call(node.value):
                yield Edit(scope.test, node.lineno, change, sure, scope.function)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from self._with(node, scope, sure)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            inner = sure if _runs(node) else min(sure, Sure.LIKELY)
            yield from self._body(node.body, scope, inner)
        elif isinstance(node, (ast.If, ast.Try, ast.Match)):
            for part in _parts(node):
                yield from self._body(part, scope, Sure.MAYBE)

    def _of_call(self, call: ast.Call) -> Iterator[Change]:
        if is_raising(call):
            yield from of_raising(self.text, call)
        else:
            yield from of_unittest(self.text, self._assertions, call)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope, sure: Sure) -> Iterator[Edit]:
        """What awaits an exception is a check itself; what stands in it may never be come by."""
        for item in node.items:
            if isinstance(item.context_expr, ast.Call) and is_raising(item.context_expr):
                for change in of_raising(self.text, item.context_expr):
                    yield Edit(scope.test, node.lineno, change, sure, scope.function)
        names = {called(item.context_expr) for item in node.items}
        if not names & RAISING:
            inner = sure if names <= _OPEN | WARNING else Sure.MAYBE
            yield from self._body(node.body, scope, inner)


def _names_of(tree: ast.Module, module: str) -> frozenset[str]:
    """Names that stand for the tested module or for what is in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == module:
            found |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Import):
            found |= {item.asname or module for item in node.names if item.name == module}
    return frozenset(found)


def _lets_through(decorators: list[ast.expr]) -> bool:
    """Whether all decorators are known to leave a test's failure as it is."""
    return all(
        ".mark." in f".{ast.unparse(item)}" or (called(item) or ast.unparse(item)) in _PLAIN
        for item in decorators
    )


def _leaves_early(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    leaving = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(
        isinstance(item, leaving) or called(item) in _LEAVING for item in _own_nodes(node.body)
    )


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a function, without what stands in functions in it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _runs(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop's body is surely run through: over a literal that is not empty."""
    jumps = (ast.Break, ast.Continue)
    if isinstance(node, ast.While) or any(isinstance(item, jumps) for item in ast.walk(node)):
        return False
    return isinstance(node.iter, (ast.List, ast.Tuple, ast.Set)) and any(
        not isinstance(item, ast.Starred) for item in node.iter.elts
    )


def _parts(node: ast.If | ast.Try | ast.Match) -> Iterator[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        yield from (case.body for case in node.cases)
        return
    yield node.body
    yield node.orelse
    if isinstance(node, ast.Try):
        yield from (handler.body for handler in node.handlers)
        yield node.finalbody
