"""Forgeries among surviving assertion mutants."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.grading.assertion_mutation.candidates import AssertionMutant, MutableTestFile
from greenloop.grading.assertion_mutation.runs import AssertionMutationRunner
from greenloop.syntax.edit import TextEdit
from greenloop.testsuite.parser import Function

_MAX_ALIAS_DEPTH = 5
_COMPARISON_METHODS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__".split())
_OPPOSITE_PASSES = "its opposite passes too"
_EQUALS_EVERYTHING = "the value equals, or outranks, everything that it is compared with"
_EQUALS_ANSWERS = "the value equals what another test expects, too"
_FOLLOWS_EXPECTATION = "the answer follows what the test expects"


def find_forgeries(
    runner: AssertionMutationRunner, suspects: Sequence[AssertionMutant]
) -> dict[AssertionMutant, str]:
    """Return the suspects that survive again with no other test changed, each with a reason.

    The reason is '' where more than a forgery explains it: their opposites and other types are tried
    too. A value may honestly equal much if the module has a class for that; it is accused only if it
    equals everything or the answers of other tests, and never where the test creates the object
    itself or expects it to equal two different values.
    """
    found: dict[AssertionMutant, str] = {}
    for group in _group_one_per_test(suspects):
        green = runner.find_survivors(group)
        found |= _find_reasons(runner, green) if green else {}
    return found


def _group_one_per_test(mutants: Sequence[AssertionMutant]) -> Iterator[list[AssertionMutant]]:
    """Yield groups with at most one mutant of each test."""
    waiting = list(mutants)
    while waiting:
        group = list({item.scope.key: item for item in reversed(waiting)}.values())
        yield group
        waiting = [item for item in waiting if item not in group]


def _find_reasons(
    runner: AssertionMutationRunner, surviving: list[AssertionMutant]
) -> dict[AssertionMutant, str]:
    opposed = [item for item in surviving if _get_opposite_edits(item)]
    opposite = runner.find_survivors(opposed, _get_opposite_edits)
    other_type = runner.find_survivors(surviving, _get_other_type_edits)
    code = ast.parse(runner.context.code)
    has_comparisons = _has_comparisons(code)
    found = dict.fromkeys(surviving, "")
    for mutant in surviving:
        if mutant in opposite:
            found[mutant] = _OPPOSITE_PASSES
        elif _can_prove_forgery(mutant, runner.files[mutant.scope.file], code):
            if mutant in other_type:
                found[mutant] = _EQUALS_EVERYTHING
            elif mutant.change.is_swap:
                found[mutant] = _EQUALS_ANSWERS
            elif not has_comparisons:
                found[mutant] = _FOLLOWS_EXPECTATION
    return found


def _has_comparisons(tree: ast.Module) -> bool:
    """Whether a module defines comparisons, or uses mocks, which have them."""
    nodes = list(ast.walk(tree))
    return any(isinstance(n, Function) and n.name in _COMPARISON_METHODS for n in nodes) or any(
        isinstance(node, ast.alias) and "mock" in node.name for node in nodes
    )


def _get_opposite_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    """Return the edits of the opposite assertion; () where there is none."""
    change = mutant.change
    if change.opposite is not None:
        return (change.opposite,)
    return () if change.actual is not None else change.edits


def _get_other_type_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    return (mutant.change.other_type,) if mutant.change.other_type else mutant.change.edits


def _can_prove_forgery(mutant: AssertionMutant, file: MutableTestFile, code: ast.Module) -> bool:
    """Whether the value is an answer of the code, and no object that may honestly equal much."""
    value = _resolve_local_name(mutant.change.actual, mutant.scope.function)
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Attribute):
        return getattr(value.value, "id", "") not in file.module_names
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Subscript)
    made = ast.unparse(value.func).rpartition(".")[2]
    is_class = any(isinstance(n, ast.ClassDef) and n.name == made for n in ast.walk(code))
    if is_class and not _is_function_like_class(made, value, file):
        return False
    return len(_collect_expected(file, value, by_function=False)) <= 1


def _is_function_like_class(name: str, call: ast.Call, file: MutableTestFile) -> bool:
    """Whether a class is named and used like a function."""
    wanted = _collect_expected(file, call, by_function=True)
    return name.islower() and bool(call.args) and len(wanted) > 1


def _collect_expected(file: MutableTestFile, call: ast.Call, *, by_function: bool) -> set[str]:
    """Return what the tests expect of the same call, or of any call of the same function."""

    def describe(node: ast.expr | None) -> str:
        called = node.func if by_function and isinstance(node, ast.Call) else node
        return ast.dump(called) if called is not None else ""

    changes = [item.change for mutants in file.mutants.values() for item in mutants]
    same = [item.expected for item in changes if describe(item.actual) == describe(call)]
    return {ast.dump(expected) for expected in same if expected is not None}


def _resolve_local_name(
    node: ast.expr | None, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> ast.expr | None:
    """Return the value of a local name that is assigned once."""
    for _ in range(_MAX_ALIAS_DEPTH):
        if not isinstance(node, ast.Name):
            return node
        values = [
            item.value
            for item in ast.walk(function)
            if isinstance(item, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in item.targets)
        ]
        if len(values) != 1:
            return node
        node = values[0]
    return node
