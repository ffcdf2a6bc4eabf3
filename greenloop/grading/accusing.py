"""A control stayed green: is it a forgery, and can it be nothing else?"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from greenloop.grading.control_runs import Controlled, Place
from greenloop.suite.controls import ControlledFile, Edit
from greenloop.suite.splicing import Splice

_DEPTH = 5
_OPPOSITE = "its opposite passes too"
_ALWAYS_EQUAL = "the value equals, or outranks, whatever it is held against"


def accused(controlled: Controlled, suspects: list[Place]) -> dict[Place, str]:
    """Those of the suspects that only a forgery explains, each with its reason.

    Each is run again by itself, its opposite too, and its value held against something of another
    type. A value may well equal much if it is made by a class of the module, so that is never
    accused; nor is what the tests themselves want to equal two things.
    """
    again = controlled.run(suspects)
    still = [item for item in suspects if controlled.green(again, item)]
    if not still:
        return {}
    opposed = [item for item in still if _opposite(item.edit)]
    opposite = controlled.run(opposed, _opposite)
    wider = controlled.run(still, _wider)
    found: dict[Place, str] = {}
    for place in still:
        if place in opposed and controlled.green(opposite, place):
            found[place] = _OPPOSITE
        elif place.edit.change.of_value and controlled.green(wider, place):
            file = controlled.files[place.file]
            if _may_be_accused(place.edit, file, controlled.code):
                found[place] = _ALWAYS_EQUAL
    return found


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
        return made not in classes and not _wants_two(value, file.edits)
    if isinstance(value, ast.Attribute):
        return _name(value.value) not in file.own
    return isinstance(value, ast.Subscript)


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
