"""Assertion mutants: changes of a test file's assertions after which their test must fail."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from greenloop.grading.assertion_mutation.assertion_calls import (
    RAISES_NAMES,
    WARNS_NAMES,
    change_exception_check,
    change_unittest_assertion,
    is_exception_check,
)
from greenloop.grading.assertion_mutation.certainty import (
    TRANSPARENT_CONTEXTS,
    Certainty,
    has_early_exit,
    is_always_entered,
    is_transparent,
    iter_branches,
)
from greenloop.grading.assertion_mutation.literals import change_literal, choose_other_answer
from greenloop.grading.assertion_mutation.operators import (
    AssertionChange,
    AssertionMutator,
    get_called_name,
)
from greenloop.grading.assertion_mutation.parametrize import find_expected_nodes, rewrite_expected
from greenloop.syntax.names import get_dotted_name
from greenloop.syntax.nodes import Function, get_last_name
from greenloop.syntax.parse import read_literal
from greenloop.syntax.source import Source
from greenloop.testsuite.parser import InheritedTests, has_hooks, iter_tests, name_test


@dataclass(frozen=True, slots=True)
class AssertionScope:
    """One test (`name`, `Class::name`), and the certainty that its statements are executed."""

    file: str
    test: str
    function: Function
    certainty: Certainty

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.test


@dataclass(frozen=True, slots=True)
class AssertionMutant:
    """One assertion of one test with its change. `line` is 1-based.

    `path` is the changed file, if it is not the test's own.
    """

    scope: AssertionScope
    line: int
    change: AssertionChange
    certainty: Certainty
    is_in_helper: bool = False
    path: str = ""


class MutableTestFile:
    """The mutants of a test file, by test. `answers` are the values that its tests expect.

    In place of a test without assertions of its own, the functions that it calls are changed: those
    of this file, or else those of the imported files `helpers`.

    Raises:
        SyntaxError, ValueError: the file cannot be parsed.
    """

    def __init__(
        self,
        code: str,
        module: str,
        name: str = "",
        program: str = "",
        helpers: Sequence["MutableTestFile"] = (),
    ) -> None:
        """`program` is the source of the module."""
        tree, self._program = ast.parse(code), program
        self.source, self._name = Source(code), name
        self.module_names = _collect_module_names(tree, module)
        self._assertions = AssertionMutator(self.source, self.module_names)
        self._inherited = InheritedTests(tree.body)
        self.classes = self._inherited.classes
        highest = Certainty.LIKELY if has_hooks(code) else Certainty.CERTAIN
        self.scopes = {scope.test: scope for scope in self._find_tests(tree.body, highest)}
        self._helpers = {
            node.name: list(self._find_mutants(AssertionScope(name, "", node, Certainty.MAYBE)))
            for node in ast.walk(tree)
            if isinstance(node, Function) and not node.name.startswith("test")
        }
        self._helper_files = helpers
        self.mutants = {test: self._build_mutants(scope) for test, scope in self.scopes.items()}
        self.exceptions = set(filter(None, map(self._name_exception, self._list_mutants())))
        self.answers: dict[str, object] = {}
        self._answers_of_value: dict[str, set[str]] = {}
        for mutant in self._list_mutants():
            for node in find_expected_nodes(mutant.scope.function, mutant.change):
                if value := read_literal(node):
                    text = ast.unparse(node)
                    self.answers[text] = value[0]
                    self._answers_of_value.setdefault(self._describe_value(mutant), set()).add(text)

    def _find_tests(self, body: list[ast.stmt], highest: Certainty) -> Iterator[AssertionScope]:
        for test, classes in iter_tests(body, list_body=self._inherited.list_body):
            certainty = highest
            if not all(is_transparent(item.decorator_list) for item in (*classes, test)):
                certainty = Certainty.LIKELY
            if has_early_exit(test):
                certainty = Certainty.MAYBE
            yield AssertionScope(self._name, name_test(test, classes), test, certainty)

    def _build_mutants(self, scope: AssertionScope) -> tuple[AssertionMutant, ...]:
        """Return the test's mutants; if it has none, one mutant of all helpers that it calls."""
        if own := tuple(self._find_mutants(scope)):
            return own
        nodes = list(ast.walk(scope.function))
        names = {get_last_name(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute))}
        for file in (self, *self._helper_files):
            if found := [item for name in names for item in file._helpers.get(name, ())]:
                return (self._merge(scope, found),)
        return ()

    @staticmethod
    def _merge(scope: AssertionScope, found: Sequence[AssertionMutant]) -> AssertionMutant:
        """Return one mutant of a test that joins the mutants of one file's helpers."""
        first = {item.line: item for item in reversed(found)}  # one a line, so that none overlap
        line, edits = min(first), tuple(e for item in first.values() for e in item.change.edits)
        change = AssertionChange(edits, first[line].change.description)
        path = found[0].scope.file if found[0].scope.file != scope.file else ""
        return AssertionMutant(scope, line, change, Certainty.MAYBE, is_in_helper=True, path=path)

    def swap_answer(self, test: str, answers: Mapping[str, object]) -> AssertionMutant | None:
        """Return a mutant in which a test expects another test's answer; None if there is none."""
        for mutant in self.mutants.get(test, ()):
            if mutant.change.other_type is None:  # not equality: a number near another may pass
                continue
            nodes = find_expected_nodes(mutant.scope.function, mutant.change)
            own: set[str] = set()  # a value may honestly equal each answer that tests expect of it
            if not mutant.change.changes_test_id:
                own = self._answers_of_value.get(self._describe_value(mutant), own)
            others = {text: value for text, value in answers.items() if text not in own}
            choose = partial(choose_other_answer, answers=others)
            if change := rewrite_expected(self.source, mutant.change, nodes, choose):
                return replace(mutant, change=replace(change, is_swap=True))
        return None

    def swap_exception(
        self, test: str, are_related: Callable[[str, str], bool]
    ) -> AssertionMutant | None:
        """Return a mutant in which a test expects another test's exception; None if there is none.

        Both exceptions are the module's, and neither is a base class of the other.
        """
        for mutant in self.mutants.get(test, ()):
            node, own = mutant.change.exception, self._name_exception(mutant)
            others = sorted(name for name in self.exceptions if not are_related(own, name))
            if node is not None and own and others:
                edit = self.source.replace_node(node, others[0])
                change = AssertionChange((edit,), f"expects {others[0]}", node, is_swap=True)
                return replace(mutant, change=change)
        return None

    def _list_mutants(self) -> Iterator[AssertionMutant]:
        return (item for mutants in self.mutants.values() for item in mutants)

    def _name_exception(self, mutant: AssertionMutant) -> str:
        """Return the test's name for the module's exception that it expects; '' for none."""
        name = get_dotted_name(mutant.change.exception) if mutant.change.exception else ""
        return name if name.partition(".")[0] in self.module_names else ""

    def _describe_value(self, mutant: AssertionMutant) -> str:
        """Return a key for the value of the code that is tested; local names belong to one test."""
        value = mutant.change.actual or ast.Constant(None)
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        return f"{'' if names & self.module_names else mutant.scope.test} {ast.dump(value)}"

    def _find_mutants(self, scope: AssertionScope) -> Iterator[AssertionMutant]:
        for line, change, certainty in self._change_body(scope.function.body, scope.certainty):
            if isinstance(change.expected, ast.Name):
                nodes = find_expected_nodes(scope.function, change)
                change = rewrite_expected(self.source, change, nodes, change_literal) or change
            yield AssertionMutant(scope, line, change, certainty)

    def _change_body(
        self, body: list[ast.stmt], certainty: Certainty
    ) -> Iterator[tuple[int, AssertionChange, Certainty]]:
        """Yield the changes of these statements with their lines."""
        for node in body:
            if isinstance(node, ast.Assert):
                changes = self._assertions.generate_changes(node.test)
                yield from ((node.lineno, change, certainty) for change in changes)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                changes = self._change_call(node.value)
                yield from ((node.lineno, change, certainty) for change in changes)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                yield from self._change_with(node, certainty)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                inner = certainty if is_always_entered(node) else min(certainty, Certainty.LIKELY)
                yield from self._change_body(node.body, inner)
            elif isinstance(node, (ast.If, ast.Try, ast.Match)):
                for part in iter_branches(node):
                    yield from self._change_body(part, Certainty.MAYBE)

    def _change_call(self, call: ast.Call) -> Iterator[AssertionChange]:
        if is_exception_check(call):
            return change_exception_check(self.source, call, self._program)
        return change_unittest_assertion(self.source, self._assertions, call)

    def _change_with(
        self, node: ast.With | ast.AsyncWith, certainty: Certainty
    ) -> Iterator[tuple[int, AssertionChange, Certainty]]:
        """Yield changes of expected exceptions, and of the body unless an exception must end it."""
        calls = [i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)]
        for call in filter(is_exception_check, calls):
            for change in change_exception_check(self.source, call, self._program):
                yield node.lineno, change, certainty
        names = {get_called_name(item.context_expr) for item in node.items}
        if not names & RAISES_NAMES:
            inner = certainty if names <= TRANSPARENT_CONTEXTS | WARNS_NAMES else Certainty.MAYBE
            yield from self._change_body(node.body, inner)


def _collect_module_names(tree: ast.Module, module: str) -> frozenset[str]:
    """Return the file's names for the tested module and its members."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == module:
            found |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Import):
            found |= {item.asname or module for item in node.names if item.name == module}
    return frozenset(found)
