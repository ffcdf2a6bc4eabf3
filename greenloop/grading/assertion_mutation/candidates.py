"""Assertion mutants: the assertions of a test file that can be changed so that their test must fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from greenloop.grading.assertion_mutation.assertion_calls import (
    RAISES_NAMES,
    WARNS_NAMES,
    change_exception_check,
    change_unittest_assertion,
    get_called_name,
    is_exception_check,
)
from greenloop.grading.assertion_mutation.operators import AssertionChange, AssertionMutator
from greenloop.grading.assertion_mutation.parametrize import change_in_decorator
from greenloop.syntax.source import Source
from greenloop.testsuite.parser import Function, has_hooks, is_test_class

# Context managers that do not swallow an error.
_TRANSPARENT_CONTEXTS = frozenset(
    "open patch dict object multiple at_level context subTest TemporaryDirectory NamedTemporaryFile "
    "nullcontext closing catch_warnings chdir record localcontext".split()
)
# Decorators that do not swallow an error.
_TRANSPARENT_DECORATORS = frozenset(
    "patch object dict multiple given settings example seed staticmethod classmethod".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EXIT_CALLS = frozenset({"skip", "skipTest", "importorskip", "xfail", "exit"})


class Certainty(IntEnum):
    """Whether an assertion is executed when its test passes."""

    MAYBE = 0  # in a branch
    LIKELY = 1  # in a loop
    CERTAIN = 2


@dataclass(frozen=True)
class AssertionMutant:
    """One assertion of one test (`name`, `Class::name`) with its change. `line` is 1-based."""

    test: str
    line: int
    change: AssertionChange
    certainty: Certainty
    function: ast.FunctionDef | ast.AsyncFunctionDef
    is_in_helper: bool = False


@dataclass(frozen=True)
class AssertionScope:
    """One test, and the certainty that its statements are executed."""

    test: str
    function: ast.FunctionDef | ast.AsyncFunctionDef
    certainty: Certainty


class MutableTestFile:
    """The mutants of a test file, by test.

    Raises:
        SyntaxError, ValueError: the file cannot be parsed.
    """

    def __init__(self, code: str, module: str) -> None:
        tree = ast.parse(code)
        self.source = Source(code)
        self.module_names = _collect_module_names(tree, module)
        self.has_hooks = has_hooks(code)
        self._assertions = AssertionMutator(self.source, self.module_names)
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        highest = Certainty.LIKELY if self.has_hooks else Certainty.CERTAIN
        self._helpers = {
            node.name: list(self._find_mutants(AssertionScope("", node, Certainty.MAYBE)))
            for node in ast.walk(tree)
            if isinstance(node, Function) and not node.name.startswith("test")
        }
        self.mutants = {
            scope.test: self._build_mutants(scope)
            for scope in self._find_tests(tree.body, "", highest)
        }

    def _find_tests(
        self, body: list[ast.stmt], prefix: str, certainty: Certainty
    ) -> Iterator[AssertionScope]:
        for node in body:
            if isinstance(node, ast.ClassDef) and is_test_class(node):
                inner = certainty if _is_transparent(node.decorator_list) else Certainty.LIKELY
                body = [*node.body, *self._find_inherited_tests(node, frozenset())]
                yield from self._find_tests(body, f"{prefix}{node.name}::", inner)
            elif isinstance(node, Function) and node.name.startswith("test"):
                inner = certainty if _is_transparent(node.decorator_list) else Certainty.LIKELY
                inner = inner if not _has_early_exit(node) else Certainty.MAYBE
                yield AssertionScope(prefix + node.name, node, inner)

    def _find_inherited_tests(self, node: ast.ClassDef, seen: frozenset[str]) -> Iterator[ast.stmt]:
        """Yield inherited tests of base classes in the same file."""
        own = {item.name for item in node.body if isinstance(item, Function)}
        for base in node.bases:
            found = self._classes.get(base.id) if isinstance(base, ast.Name) else None
            if found is None or found.name in seen:
                continue
            functions = [item for item in found.body if isinstance(item, Function)]
            yield from (item for item in functions if item.name not in own)
            yield from self._find_inherited_tests(found, seen | {found.name})

    def _build_mutants(self, scope: AssertionScope) -> tuple[AssertionMutant, ...]:
        """Return the test's mutants; where it has none, one mutant of all helpers that it calls."""
        own = tuple(self._find_mutants(scope))
        if own:
            return own
        names = {node.id for node in ast.walk(scope.function) if isinstance(node, ast.Name)}
        names |= {n.attr for n in ast.walk(scope.function) if isinstance(n, ast.Attribute)}
        found = [item for name in names for item in self._helpers.get(name, ())]
        if not found:
            return ()
        first = {item.line: item for item in reversed(found)}  # one a line: they must not overlap
        edits = tuple(edit for item in first.values() for edit in item.change.edits)
        line = min(first)
        change = AssertionChange(edits, first[line].change.description)
        return (
            AssertionMutant(
                scope.test, line, change, Certainty.MAYBE, scope.function, is_in_helper=True
            ),
        )

    def _find_mutants(self, scope: AssertionScope) -> Iterator[AssertionMutant]:
        yield from self._find_mutants_in_body(scope.function.body, scope, scope.certainty)

    def _find_mutants_in_body(
        self, body: list[ast.stmt], scope: AssertionScope, certainty: Certainty
    ) -> Iterator[AssertionMutant]:
        for node in body:
            yield from self._find_mutants_in_statement(node, scope, certainty)

    def _find_mutants_in_statement(
        self, node: ast.stmt, scope: AssertionScope, certainty: Certainty
    ) -> Iterator[AssertionMutant]:
        if isinstance(node, ast.Assert):
            for change in self._assertions.generate_changes(node.test):
                found = change_in_decorator(self.source, scope.function, change) or change
                yield AssertionMutant(scope.test, node.lineno, found, certainty, scope.function)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            for change in self._generate_call_changes(node.value):
                yield AssertionMutant(scope.test, node.lineno, change, certainty, scope.function)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from self._find_mutants_in_with(node, scope, certainty)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            inner = certainty if _is_always_entered(node) else min(certainty, Certainty.LIKELY)
            yield from self._find_mutants_in_body(node.body, scope, inner)
        elif isinstance(node, (ast.If, ast.Try, ast.Match)):
            for part in _iter_branches(node):
                yield from self._find_mutants_in_body(part, scope, Certainty.MAYBE)

    def _generate_call_changes(self, call: ast.Call) -> Iterator[AssertionChange]:
        if is_exception_check(call):
            yield from change_exception_check(self.source, call)
        else:
            yield from change_unittest_assertion(self.source, self._assertions, call)

    def _find_mutants_in_with(
        self, node: ast.With | ast.AsyncWith, scope: AssertionScope, certainty: Certainty
    ) -> Iterator[AssertionMutant]:
        """Yield changes of expected exceptions; what follows in their body may not be executed."""
        for item in node.items:
            if isinstance(item.context_expr, ast.Call) and is_exception_check(item.context_expr):
                for change in change_exception_check(self.source, item.context_expr):
                    yield AssertionMutant(
                        scope.test, node.lineno, change, certainty, scope.function
                    )
        names = {get_called_name(item.context_expr) for item in node.items}
        if not names & RAISES_NAMES:
            inner = certainty if names <= _TRANSPARENT_CONTEXTS | WARNS_NAMES else Certainty.MAYBE
            yield from self._find_mutants_in_body(node.body, scope, inner)


def _collect_module_names(tree: ast.Module, module: str) -> frozenset[str]:
    """Return the file's names for the tested module and its members."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == module:
            found |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Import):
            found |= {item.asname or module for item in node.names if item.name == module}
    return frozenset(found)


def _is_transparent(decorators: list[ast.expr]) -> bool:
    """Whether no decorator can swallow a test's failure."""
    return all(
        ".mark." in f".{ast.unparse(item)}"
        or (get_called_name(item) or ast.unparse(item)) in _TRANSPARENT_DECORATORS
        for item in decorators
    )


def _has_early_exit(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    leaving = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(
        isinstance(item, leaving) or get_called_name(item) in _EXIT_CALLS
        for item in _iter_own_nodes(node.body)
    )


def _iter_own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of nested functions."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _is_always_entered(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop's body is certainly executed: over a literal that is not empty."""
    jumps = (ast.Break, ast.Continue)
    if isinstance(node, ast.While) or any(isinstance(item, jumps) for item in ast.walk(node)):
        return False
    return isinstance(node.iter, (ast.List, ast.Tuple, ast.Set)) and any(
        not isinstance(item, ast.Starred) for item in node.iter.elts
    )


def _iter_branches(node: ast.If | ast.Try | ast.Match) -> Iterator[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        yield from (case.body for case in node.cases)
        return
    yield node.body
    yield node.orelse
    if isinstance(node, ast.Try):
        yield from (handler.body for handler in node.handlers)
        yield node.finalbody
