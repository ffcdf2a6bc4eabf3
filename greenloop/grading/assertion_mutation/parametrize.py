"""Changes of expected values in `@pytest.mark.parametrize`."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from greenloop.grading.assertion_mutation.operators import AssertionChange, get_called_name
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import read_literal
from greenloop.syntax.source import Source

ChooseLiteral = Callable[[ast.expr], str | None]


def find_expected_nodes(function: Function, change: AssertionChange) -> list[ast.expr]:
    """Return the expected value of an assertion, or its parameter's value in each row; [] if none.

    For `approx(value)` this is `value`. The parameter must be used for nothing else, as inputs must
    not be changed.
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
    columns = (_read_columns(item).get(expected.id) for item in function.decorator_list)
    return next(filter(None, columns), [])


def rewrite_expected(
    source: Source, change: AssertionChange, nodes: list[ast.expr], choose: ChooseLiteral
) -> AssertionChange | None:
    """Return the change with another literal for each of these nodes; None if one has none."""
    edits = [source.replace_node(node, text) for node in nodes if (text := choose(node))]
    if not edits or len(edits) != len(nodes):
        return None
    name = change.expected.id if isinstance(change.expected, ast.Name) else ""
    text = f"{name} = {edits[0].text}" if name else f"expects {edits[0].text}"
    return replace(change, edits=tuple(edits), description=text, changes_test_id=bool(name))


def _read_columns(decorator: ast.expr) -> dict[str, list[ast.expr]]:
    """Return the cells of each parameter of a decorator; {} if they cannot be read.

    Rows in a set cannot be read, as a set merges equal rows.
    """
    if not isinstance(decorator, ast.Call) or get_called_name(decorator) != "parametrize":
        return {}
    named = {item.arg: item.value for item in decorator.keywords}
    given = [*decorator.args, *(named[key] for key in ("argnames", "argvalues") if key in named)]
    known = read_literal(given[0]) if len(given) == 2 and "indirect" not in named else ()
    names = known[0] if known else ()
    if isinstance(names, str):
        names = [item.strip() for item in names.split(",") if item.strip()]
    rows = [_read_cells(item, len(names)) for item in _list_rows(given[1])] if names else []
    if not rows or not all(rows):
        return {}
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _list_rows(table: ast.expr) -> list[ast.expr]:
    return table.elts if isinstance(table, (ast.List, ast.Tuple)) else []


def _read_cells(row: ast.expr, count: int) -> list[ast.expr]:
    """Return the cells of a row; [] if it is not written out."""
    if isinstance(row, ast.Call) and get_called_name(row) == "param":
        cells = [] if any(item.arg == "marks" for item in row.keywords) else row.args
    else:
        cells = [row] if count == 1 else _list_rows(row)
    return cells if len(cells) == count and not _has_star(cells) else []


def _has_star(cells: list[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in cells)


def read_rows(decorators: list[ast.expr], parameters: list[str]) -> Iterator[dict[str, ast.expr]]:
    """Yield the arguments of each case of a test; nothing if they cannot be read.

    A test without arguments, and without decorators but marks, has one empty row.
    """
    marked = [item for item in decorators if ".mark." in f".{ast.unparse(item)}"]
    parametrizing = [item for item in marked if "parametrize" in ast.unparse(item)]
    if len(marked) != len(decorators) or len(parametrizing) != bool(parameters):
        return
    if not parameters:
        yield {}
        return
    columns = _read_columns(parametrizing[0])
    if columns.keys() == set(parameters):
        for cells in zip(*columns.values(), strict=True):
            yield dict(zip(columns, cells, strict=True))
