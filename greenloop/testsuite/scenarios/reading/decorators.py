"""Decorators of tests: tables of parameters, and mocks"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.testsuite.scenarios.names import Function, dotted_name
from greenloop.testsuite.scenarios.nodes import copy_node
from greenloop.testsuite.scenarios.reading.inlining import load
from greenloop.testsuite.scenarios.records import RefusedError


@dataclass(frozen=True)
class Table:
    """The rows of one `parametrize`: names of its columns, and an expression for the rows."""

    names: tuple[str, ...]
    rows: ast.expr

    @property
    def target(self) -> ast.expr:
        """The names as what a row is assigned to."""
        names: list[ast.expr] = [ast.Name(item, ast.Store()) for item in self.names]
        return names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())


def read_table(node: ast.Call) -> Table:
    options = {item.arg: item.value for item in node.keywords}
    if "indirect" in options:
        raise RefusedError("parametrize with indirect", node.lineno)
    named = node.args[0] if node.args else options.get("argnames")
    rows = node.args[1] if len(node.args) > 1 else options.get("argvalues")
    if rows is None or named is None:
        raise RefusedError("parametrize in an unknown form", node.lineno)
    try:
        columns = ast.literal_eval(named)
    except ValueError:
        raise RefusedError("parametrize with computed names", node.lineno) from None
    if isinstance(columns, str):
        columns = [item.strip() for item in columns.split(",") if item.strip()]
    elif len(columns) == 1:
        raise RefusedError("parametrize with a list of one name", node.lineno)
    return Table(tuple(columns), rows)


def with_parameter(fixture: Function, parameter: str) -> Function:
    """Return a fixture with `request.param` as a name."""
    changed = copy_node(fixture)
    for node in ast.walk(changed):
        for key, value in ast.iter_fields(node):
            if dotted_name(value) == "request.param" if isinstance(value, ast.AST) else False:
                setattr(node, key, load(parameter, node))
            elif isinstance(value, list):
                value[:] = [
                    (
                        load(parameter, node)
                        if isinstance(item, ast.AST) and dotted_name(item) == "request.param"
                        else item
                    )
                    for item in value
                ]
    return changed


def is_patch(node: ast.expr) -> bool:
    called = dotted_name(node.func) if isinstance(node, ast.Call) else ""
    return called.removeprefix("unittest.").removeprefix("mock.") in _PATCHES


_PATCHES = {"patch": 1, "patch.object": 2, "patch.dict": 0}


def gives_mock(node: ast.Call) -> bool:
    """Return whether a patch makes its mock itself, and so hands it to the test."""
    called = dotted_name(node.func).removeprefix("unittest.").removeprefix("mock.")
    given = {item.arg for item in node.keywords}
    return called != "patch.dict" and len(node.args) <= _PATCHES[called] and "new" not in given
