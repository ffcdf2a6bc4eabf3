"""Forgeries among surviving assertion mutants."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.grading.assertion_mutation.candidates import AssertionMutant, MutableTestFile
from greenloop.grading.assertion_mutation.runs import AssertionMutationRunner, LocatedMutant
from greenloop.syntax.edit import TextEdit
from greenloop.testsuite.parser import Function

_MAX_ALIAS_DEPTH = 5
_COMPARISON_METHODS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__".split())
_OPPOSITE_PASSES = "its opposite passes too"
_EQUALS_EVERYTHING = "the value equals, or outranks, everything that it is compared with"
_FOLLOWS_EXPECTATION = "the answer follows what the test expects"


@dataclass(frozen=True)
class ForgerySuspicion:
    """Mutants that survive again, with a reason for those that only a forgery explains."""

    surviving: frozenset[LocatedMutant] = frozenset()
    reasons: Mapping[LocatedMutant, str] = field(default_factory=dict)


def find_forgeries(
    runner: AssertionMutationRunner, suspects: Sequence[LocatedMutant]
) -> ForgerySuspicion:
    """Repeat the suspects with no other test changed, then their opposites and other types.

    A value may honestly equal much if the module has a class for that; it is accused only if it
    equals everything, and never where the test creates the object itself or expects it to equal two
    different values.
    """
    surviving: set[LocatedMutant] = set()
    reasons: dict[LocatedMutant, str] = {}
    for group in _group_one_per_test(suspects):
        again = runner.run(group)
        green = [item for item in group if runner.find_surviving_cases(again, item)]
        surviving.update(green)
        if green:
            reasons |= _find_reasons(runner, green)
    return ForgerySuspicion(frozenset(surviving), reasons)


def _group_one_per_test(mutants: Sequence[LocatedMutant]) -> list[list[LocatedMutant]]:
    """Return groups with at most one mutant of each test."""
    groups: list[list[LocatedMutant]] = []
    for place in mutants:
        key = (place.file, place.mutant.test)
        fitting = (g for g in groups if key not in [(item.file, item.mutant.test) for item in g])
        group = next(fitting, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _find_reasons(
    runner: AssertionMutationRunner, surviving: list[LocatedMutant]
) -> dict[LocatedMutant, str]:
    opposed = [item for item in surviving if _get_opposite_edits(item.mutant)]
    opposite = runner.run(opposed, _get_opposite_edits)
    other_type = runner.run(surviving, _get_other_type_edits)
    compares = _COMPARISON_METHODS & _collect_function_names(runner.context.code)
    found: dict[LocatedMutant, str] = {}
    for place in surviving:
        if place in opposed and runner.find_surviving_cases(opposite, place):
            found[place] = _OPPOSITE_PASSES
        elif place.mutant.change.depends_on_value and _can_prove_forgery(
            place.mutant, runner.files[place.file], runner.context.code
        ):
            if runner.find_surviving_cases(other_type, place):
                found[place] = _EQUALS_EVERYTHING
            elif not compares:
                found[place] = _FOLLOWS_EXPECTATION
    return found


def _collect_function_names(code: str) -> set[str]:
    """Return names of all functions of a module, with `__eq__` where it uses mocks."""
    tree = ast.parse(code)
    names = {node.name for node in ast.walk(tree) if isinstance(node, Function)}
    loose = any(isinstance(node, ast.alias) and "mock" in node.name for node in ast.walk(tree))
    return names | ({"__eq__"} if loose else set())


def _get_opposite_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    """Return the edits of the opposite assertion; () where there is none."""
    change = mutant.change
    if change.opposite is not None:
        return (change.opposite,)
    return () if change.depends_on_value else change.edits


def _get_other_type_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    return (mutant.change.other_type,) if mutant.change.other_type else mutant.change.edits


def _can_prove_forgery(mutant: AssertionMutant, file: MutableTestFile, code: str) -> bool:
    value = _resolve_local_name(mutant.change.actual, mutant.function)
    classes = {node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ClassDef)}
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call):
        made = (
            value.func.attr
            if isinstance(value.func, ast.Attribute)
            else _get_plain_name(value.func)
        )
        if made in classes and not _is_function_like_class(made, value, file.mutants):
            return False
        return not _has_several_expected_values(value, file.mutants)
    if isinstance(value, ast.Attribute):
        return _get_plain_name(value.value) not in file.module_names
    return isinstance(value, ast.Subscript)


def _is_function_like_class(
    name: str, call: ast.Call, mutants: Mapping[str, tuple[AssertionMutant, ...]]
) -> bool:
    """Whether a class is named and used like a function."""
    wanted = {
        ast.dump(edit.change.expected)
        for items in mutants.values()
        for edit in items
        if edit.change.expected is not None
        and isinstance(edit.change.actual, ast.Call)
        and ast.dump(edit.change.actual.func) == ast.dump(call.func)
    }
    return name.islower() and bool(call.args) and len(wanted) > 1


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


def _get_plain_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _has_several_expected_values(
    value: ast.expr, mutants: Mapping[str, tuple[AssertionMutant, ...]]
) -> bool:
    """Whether the tests expect the same call to equal different values."""
    wanted = {
        ast.dump(edit.change.expected)
        for items in mutants.values()
        for edit in items
        if edit.change.expected is not None
        and edit.change.actual is not None
        and ast.dump(edit.change.actual) == ast.dump(value)
    }
    return len(wanted) > 1
