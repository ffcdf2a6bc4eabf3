"""Changes of expected values in `@pytest.mark.parametrize`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from greenloop.grading.assertion_mutation.literals import change_literal
from greenloop.grading.assertion_mutation.operators import AssertionChange
from greenloop.syntax.edit import TextEdit
from greenloop.syntax.source import Source


def change_in_decorator(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, change: AssertionChange
) -> AssertionChange | None:
    """Return the change made in each row of the decorator instead of the assertion.

    None unless the expected value is a parameter with a literal in each row that is used nowhere
    else: inputs must not be changed.
    """
    name = change.expected.id if isinstance(change.expected, ast.Name) else None
    if name is None or _count_uses(function, name) != 1:
        return None
    for decorator in function.decorator_list:
        values = list(_read_column(decorator, name))
        edits = [_change_value(source, item) for item in values]
        if edits and all(edits):
            found = tuple(item for item in edits if item is not None)
            return replace(
                change, edits=found, description=f"{name} = {found[0].text}", changes_test_id=True
            )
    return None


def _count_uses(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int:
    nodes = (node for part in function.body for node in ast.walk(part))
    return sum(isinstance(node, ast.Name) and node.id == name for node in nodes)


def _change_value(source: Source, node: ast.expr | None) -> TextEdit | None:
    other = change_literal(node) if node is not None else None
    return source.replace_node(node, other) if node is not None and other is not None else None


def _read_column(decorator: ast.expr, name: str) -> Iterator[ast.expr | None]:
    """Yield the parameter's expression in each row, None where it cannot be read."""
    if not (
        isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize")
    ):
        return
    names = _parse_parameter_names(decorator.args[0]) if len(decorator.args) > 1 else []
    if name not in names:
        return
    rows = decorator.args[1]
    if not isinstance(rows, (ast.List, ast.Tuple)):
        yield None
        return
    for row in rows.elts:
        yield _read_cell(row, names.index(name), len(names))


def _parse_parameter_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [part.strip() for part in node.value.split(",") if part.strip()]
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]


def _read_cell(row: ast.expr, index: int, width: int) -> ast.expr | None:
    if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
        return row.args[index] if len(row.args) == width else None
    if width == 1:
        return row
    cells = row.elts if isinstance(row, (ast.List, ast.Tuple)) else []
    return cells[index] if len(cells) == width else None


def read_rows(decorators: list[ast.expr], parameters: list[str]) -> Iterator[dict[str, ast.expr]]:
    """Yield the arguments of each case of a test; nothing where they cannot be read.

    A test without arguments, and without decorators but marks, has one empty row.
    """
    marked = [item for item in decorators if ".mark." in f".{ast.unparse(item)}"]
    parametrizing = [item for item in marked if "parametrize" in ast.unparse(item)]
    if len(marked) != len(decorators) or len(parametrizing) != bool(parameters):
        return
    if not parameters:
        yield {}
        return
    columns = [list(_read_column(parametrizing[0], name)) for name in parameters]
    for cells in zip(*columns, strict=False):
        found = {
            name: cell for name, cell in zip(parameters, cells, strict=True) if cell is not None
        }
        if len(found) == len(parameters):
            yield found
