"""Changes of expected values in `@pytest.mark.parametrize`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from greenloop.grading.assertion_mutation.operators import AssertionChange, get_called_name
from greenloop.syntax.nodes import Function
from greenloop.syntax.source import Source

ChooseLiteral = Callable[[ast.expr], str | None]


def find_expected_nodes(function: Function, change: AssertionChange) -> list[ast.expr]:
    """Return the expected value of an assertion, or the parameter's value in each row; [] for none.

    Of `approx(value)` it is the value.

    The parameter must be used for nothing else: inputs must not be changed.
    """
    expected = change.expected
    if get_called_name(expected) == "approx" and isinstance(expected, ast.Call):
        alone = len(expected.args) == 1 and not expected.keywords  # a tolerance may include others
        return expected.args if alone else []
    if not isinstance(expected, ast.Name):
        return [] if expected is None else [expected]
    names = (n for part in function.body for n in ast.walk(part) if isinstance(n, ast.Name))
    if [node.id for node in names].count(expected.id) != 1:
        return []
    columns = (list(_read_column(item, expected.id)) for item in function.decorator_list)
    return next(([*filter(None, cells)] for cells in columns if cells and None not in cells), [])


def rewrite_expected(
    source: Source, change: AssertionChange, nodes: list[ast.expr], choose: ChooseLiteral
) -> AssertionChange | None:
    """Return the change with another literal for each of these nodes; None where one has none."""
    edits = [source.replace_node(node, text) for node in nodes if (text := choose(node))]
    if not edits or len(edits) != len(nodes):
        return None
    name = change.expected.id if isinstance(change.expected, ast.Name) else ""
    text = f"{name} = {edits[0].text}" if name else f"expects {edits[0].text}"
    return replace(change, edits=tuple(edits), description=text, changes_test_id=bool(name))


def _read_column(decorator: ast.expr, name: str) -> Iterator[ast.expr | None]:
    """Yield the parameter's expression in each row, None where it cannot be read."""
    if not (
        isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize")
    ):
        return
    names = _parse_parameter_names(decorator.args[0]) if len(decorator.args) > 1 else []
    if name not in names:
        return
    rows = _get_items(decorator.args[1])
    yield from (_read_cell(row, names.index(name), len(names)) for row in rows or ())
    if rows is None:
        yield None


def _get_items(node: ast.expr) -> list[ast.expr] | None:
    """Return the items of a list or tuple; None for any other node."""
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else None


def _parse_parameter_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [part.strip() for part in node.value.split(",") if part.strip()]
    parts = _get_items(node) or ()
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]


def _read_cell(row: ast.expr, index: int, width: int) -> ast.expr | None:
    if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
        return row.args[index] if len(row.args) == width else None
    if width == 1:
        return row
    cells = _get_items(row) or []
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
        if None not in cells:
            yield dict(zip(parameters, filter(None, cells), strict=True))
