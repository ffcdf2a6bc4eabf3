"""A control stayed green: is it a forgery, and can it be nothing else?"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.grading.assertion_mutation.candidates import ControlledFile, Edit
from greenloop.grading.assertion_mutation.runs import Controlled, Place
from greenloop.syntax.source import Splice
from greenloop.testsuite.parser import Function

_DEPTH = 5
_COMPARING = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__".split())
_OPPOSITE = "its opposite passes too"
_ALWAYS_EQUAL = "the value equals, or outranks, whatever it is held against"
_FOLLOWS = "the answer follows what the test expects"


@dataclass(frozen=True)
class Accused:
    """Controls that stay green when tried again, and why, for those that only a forgery explains."""

    still: frozenset[Place] = frozenset()
    why: Mapping[Place, str] = field(default_factory=dict)


def accused(controlled: Controlled, suspects: Sequence[Place]) -> Accused:
    """The suspects tried again, with no other test changed: what others left behind is no excuse.

    Then their opposites, and their values held against something of another type. A value may
    well equal much if the module has a class that says so; such are accused only if they equal
    everything, and never where the test makes the object itself, or wants it to equal two things.
    """
    still: set[Place] = set()
    why: dict[Place, str] = {}
    for places in _one_a_test(suspects):
        again = controlled.run(places)
        green = [item for item in places if controlled.green(again, item)]
        still.update(green)
        if green:
            why |= _reasons(controlled, green)
    return Accused(frozenset(still), why)


def _one_a_test(places: Sequence[Place]) -> list[list[Place]]:
    """The places in groups in which no test comes twice."""
    groups: list[list[Place]] = []
    for place in places:
        key = (place.file, place.edit.test)
        fitting = (g for g in groups if key not in [(item.file, item.edit.test) for item in g])
        group = next(fitting, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _reasons(controlled: Controlled, still: list[Place]) -> dict[Place, str]:
    opposed = [item for item in still if _opposite(item.edit)]
    opposite = controlled.run(opposed, _opposite)
    wider = controlled.run(still, _wider)
    compares = _COMPARING & _functions(controlled.code)
    found: dict[Place, str] = {}
    for place in still:
        if place in opposed and controlled.green(opposite, place):
            found[place] = _OPPOSITE
        elif place.edit.change.of_value and _may_be_accused(
            place.edit, controlled.files[place.file], controlled.code
        ):
            if controlled.green(wider, place):
                found[place] = _ALWAYS_EQUAL
            elif not compares:
                found[place] = _FOLLOWS
    return found


def _functions(code: str) -> set[str]:
    """Names of all functions of a module; `__eq__` too where it takes over loose values."""
    tree = ast.parse(code)
    names = {node.name for node in ast.walk(tree) if isinstance(node, Function)}
    loose = any(isinstance(node, ast.alias) and "mock" in node.name for node in ast.walk(tree))
    return names | ({"__eq__"} if loose else set())


def _opposite(edit: Edit) -> tuple[Splice, ...]:
    """() where none can be written."""
    change = edit.change
    if change.opposite is not None:
        return (change.opposite,)
    return () if change.of_value else change.splices


def _wider(edit: Edit) -> tuple[Splice, ...]:
    return (edit.change.wider,) if edit.change.wider else edit.change.splices


def _may_be_accused(edit: Edit, file: ControlledFile, code: str) -> bool:
    value = _resolved(edit.change.value, edit.function)
    classes = {node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ClassDef)}
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call):
        made = value.func.attr if isinstance(value.func, ast.Attribute) else _name(value.func)
        if made in classes and not _is_like_a_function(made, value, file.edits):
            return False
        return not _wants_two(value, file.edits)
    if isinstance(value, ast.Attribute):
        return _name(value.value) not in file.own
    return isinstance(value, ast.Subscript)


def _is_like_a_function(name: str, call: ast.Call, edits: Mapping[str, tuple[Edit, ...]]) -> bool:
    """Whether a class is written and used as a function is: small letters, arguments, answers."""
    wanted = {
        ast.dump(edit.change.expected)
        for items in edits.values()
        for edit in items
        if edit.change.expected is not None
        and isinstance(edit.change.value, ast.Call)
        and ast.dump(edit.change.value.func) == ast.dump(call.func)
    }
    return name.islower() and bool(call.args) and len(wanted) > 1


def _resolved(
    node: ast.expr | None, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> ast.expr | None:
    """What a local name stands for, where it was assigned once."""
    for _ in range(_DEPTH):
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


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _wants_two(value: ast.expr, edits: Mapping[str, tuple[Edit, ...]]) -> bool:
    """Whether the tests want the same call to equal different values: then it is meant to."""
    wanted = {
        ast.dump(edit.change.expected)
        for items in edits.values()
        for edit in items
        if edit.change.expected is not None
        and edit.change.value is not None
        and ast.dump(edit.change.value) == ast.dump(value)
    }
    return len(wanted) > 1
