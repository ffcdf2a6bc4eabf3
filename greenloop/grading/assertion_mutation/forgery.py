"""Forgeries among surviving assertion mutants."""

import ast
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from greenloop.grading.assertion_mutation.candidates import AssertionMutant, MutableTestFile
from greenloop.grading.assertion_mutation.operators import get_called_name
from greenloop.grading.assertion_mutation.runs import AssertionMutationRunner
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none
from greenloop.syntax.source import TextEdit

_MAX_ALIAS_DEPTH = 5
_COMPARISON_METHODS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__".split())
_OPPOSITE_PASSES = "its negation passes too"
_EQUALS_EVERYTHING = "the value compares as equal to, or greater than, everything"
_EQUALS_ANSWERS = "the value also equals what another test expects"
_FOLLOWS_EXPECTATION = "the result depends on what the test expects"


def find_forgeries(
    runner: AssertionMutationRunner, suspects: Sequence[AssertionMutant]
) -> dict[AssertionMutant, str]:
    """Return the suspects that survive again with no other test changed, each with a reason.

    Opposite assertions and values of other types are tried too. The reason is '' if there may be an
    honest one. A container that has another number, too, is left out: that is its rule, and the
    opposite assertion fails. If the module defines comparisons, a value may honestly equal many
    others: it is accused only if it equals everything or the answers of other tests. It is never accused if the
    test creates the object itself or expects it to equal two different values.
    """
    found: dict[AssertionMutant, str] = {}
    for group in _group_one_per_test(suspects):
        green = list(runner.find_survivors(group))
        found |= _find_reasons(runner, green) if green else {}
    return found


def _group_one_per_test(mutants: Sequence[AssertionMutant]) -> Iterator[list[AssertionMutant]]:
    """Yield groups with at most one mutant of each test."""
    by_test: dict[tuple[str, str], list[AssertionMutant]] = {}
    for item in mutants:
        by_test.setdefault(item.scope.key, []).append(item)
    for group in zip_longest(*by_test.values()):
        yield [item for item in group if item is not None]


def _find_reasons(
    runner: AssertionMutationRunner, surviving: list[AssertionMutant]
) -> dict[AssertionMutant, str]:
    opposed = [item for item in surviving if _get_opposite_edits(item)]
    opposite = runner.find_survivors(opposed, _get_opposite_edits)
    other_type = runner.find_survivors(surviving, _get_other_type_edits)
    code = parse_or_none(runner.context.code)
    has_comparisons = code is None or _has_comparisons(code)
    rules = {name: _AnswerRule(code, file) for name, file in runner.files.items() if code}
    found = {
        i: ""
        for i in surviving
        if i in opposite or (i in other_type if i.change.is_bound else not i.change.is_input)
    }
    for mutant in found:
        if mutant in opposite:
            found[mutant] = _OPPOSITE_PASSES
        elif rules and rules[mutant.scope.file].is_answer(mutant):
            if mutant in other_type:
                found[mutant] = _EQUALS_EVERYTHING
            elif mutant.change.is_swap:
                found[mutant] = _EQUALS_ANSWERS
            elif not has_comparisons:
                found[mutant] = _FOLLOWS_EXPECTATION
    return found


def _has_comparisons(tree: ast.Module) -> bool:
    """Whether a module defines comparisons, or uses mocks, which have them."""
    return any(
        (isinstance(node, Function) and node.name in _COMPARISON_METHODS)
        or (isinstance(node, ast.alias) and "mock" in node.name)
        for node in ast.walk(tree)
    )


def _get_opposite_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    """Return the edits of the opposite assertion; () if there is none."""
    change = mutant.change
    if change.opposite is not None:
        return (change.opposite,)
    return () if change.actual is not None else change.edits


def _get_other_type_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    return (mutant.change.other_type,) if mutant.change.other_type else mutant.change.edits


class _AnswerRule:
    """Rule that tells answers of the code from objects that may legitimately equal many values."""

    def __init__(self, code: ast.Module, file: MutableTestFile) -> None:
        self._module_names = file.module_names
        self._classes = {n.name for n in ast.walk(code) if isinstance(n, ast.ClassDef)}
        # The values that the tests expect of each expression, and of all calls of each function.
        self._expected: dict[str, set[str]] = {}
        for change in (item.change for mutants in file.mutants.values() for item in mutants):
            if change.actual is not None and change.expected is not None:
                function = change.actual.func if isinstance(change.actual, ast.Call) else None
                for node in filter(None, (change.actual, function)):
                    found = self._expected.setdefault(ast.dump(node), set())
                    found.add(ast.dump(change.expected))

    def is_answer(self, mutant: AssertionMutant) -> bool:
        """Whether the code computes the value, and the tests expect at most one value of it."""
        value = _resolve_local_name(mutant.change.actual, mutant.scope.function)
        if isinstance(value, ast.Await):
            value = value.value
        if isinstance(value, ast.Attribute):
            return getattr(value.value, "id", "") not in self._module_names
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.Subscript)
        made = get_called_name(value)
        if made in self._classes and not self._is_used_like_function(made, value):
            return False
        return len(self._expected.get(ast.dump(value), ())) <= 1

    def _is_used_like_function(self, name: str, call: ast.Call) -> bool:
        answers = self._expected.get(ast.dump(call.func), ())
        return name.islower() and bool(call.args) and len(answers) > 1


def _resolve_local_name(node: ast.expr | None, function: Function) -> ast.expr | None:
    """Return the value of a local name that is assigned once."""
    for _ in range(_MAX_ALIAS_DEPTH):
        if not isinstance(node, ast.Name):
            return node
        assigned = (item for item in ast.walk(function) if isinstance(item, ast.Assign))
        values = [i.value for i in assigned if node.id in [getattr(t, "id", "") for t in i.targets]]
        if len(values) != 1:
            return node
        node = values[0]
    return node
