"""Tables of a test: the rows of `parametrize` and of loops, and what of them is input."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from greenloop.testsuite.scenarios.names import bound_names, dotted_name
from greenloop.testsuite.scenarios.nodes import tuple_of
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope

# The keys of a name's value that the scenario uses; None for the whole value.
Uses = Mapping[str, "frozenset[object] | None"]
_Sequence = (ast.List, ast.Tuple, ast.Set)


def split_rows(rows: ast.expr, literals: Mapping[str, ast.expr]) -> list[ast.expr] | None:
    """Return the rows of a table as expressions; None where it is computed."""
    rows = literals.get(dotted_name(rows), rows)
    if isinstance(rows, _Sequence):
        found = [_cells_of_param(item) for item in rows.elts]
        return None if any(isinstance(item, ast.Starred) for item in found) else found
    return None


def _cells_of_param(node: ast.expr) -> ast.expr:
    """Return the row of `pytest.param(...)`, whose id and marks stay behind."""
    if isinstance(node, ast.Call) and dotted_name(node.func) in ("pytest.param", "param"):
        if any(item.arg == "marks" for item in node.keywords):
            raise RefusedError("a row with marks", node.lineno)
        return node.args[0] if len(node.args) == 1 else tuple_of(list(node.args))
    return node


def read_columns(
    target: ast.expr, rows: ast.expr, literals: Mapping[str, ast.expr]
) -> dict[str, list[ast.expr]] | None:
    """Return the cells of each name of a target; None where the table is computed."""
    found = split_rows(rows, literals)
    if found is None:
        return None
    columns: dict[str, list[ast.expr]] = {name: [] for name in bound_names(target)}
    for row in found:
        for name, cell in _match(target, row):
            columns[name].append(cell)
    is_complete = all(len(cells) == len(found) for cells in columns.values())
    return columns if is_complete else None


def _match(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    for part, cell in _pairs(target, value):
        yield from _match(part, cell)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the parts of a target with those of a value; [] where they do not match."""
    if not isinstance(target, _Sequence) or not isinstance(value, (ast.List, ast.Tuple)):
        return []
    is_match = len(target.elts) == len(value.elts)
    return list(zip(target.elts, value.elts, strict=True)) if is_match else []


def bind_columns(scope: Scope, target: ast.expr, rows: ast.expr) -> None:
    """Bind the names of a target to their cells.

    Raises:
        RefusedError: a column has cells that the code gives and others that it does not.
    """
    columns = read_columns(target, rows, scope.literals) or {}
    for name in sorted(bound_names(target)):
        if columns.get(name):
            _bind_column(scope, name, columns[name])
        else:
            scope.bind([name], rows)


def _bind_column(scope: Scope, name: str, cells: list[ast.expr]) -> None:
    levels = [scope.level(cell, records=True) for cell in cells]
    level = max(levels)
    plain = [cell for cell, found in zip(cells, levels, strict=True) if not found]
    if level is Level.DEPENDENT and any(not _is_neutral(cell) for cell in plain):
        raise RefusedError(f"the column {name} mixes values and what the code gives")
    mutable = [cell for cell in cells if not scope.is_immutable(cell)]
    scope.bind([name], mutable[0] if mutable else cells[0], level)
    if all(map(scope.is_object, cells)):
        scope.objects.add(name)


def _is_neutral(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def project_table(
    target: ast.expr, rows: ast.expr, uses: Uses, literals: Mapping[str, ast.expr]
) -> ast.expr:
    """Return the rows with a hole in each position that the scenario does not use.

    Raises:
        RefusedError: the table is computed, and not all of it is used.
    """
    names = bound_names(target)
    found = split_rows(rows, literals)
    if found is not None:
        return ast.List([_project(target, row, uses) for row in found], ast.Load())
    is_count = isinstance(rows, ast.Call) and dotted_name(rows.func) == "range"
    if is_count or all(uses.get(name, frozenset()) is None for name in names):
        return rows
    raise RefusedError("a computed table of inputs and expected values", rows.lineno)


def _project(target: ast.expr, value: ast.expr, uses: Uses) -> ast.expr:
    if isinstance(target, ast.Name):
        return project_value(value, uses.get(target.id, frozenset()))
    pairs = _pairs(target, value)
    if pairs:
        return tuple_of([_project(part, cell, uses) for part, cell in pairs])
    if all(uses.get(name, frozenset()) is None for name in bound_names(target)):
        return value
    raise RefusedError("a row whose parts cannot be determined", getattr(value, "lineno", 0))


def project_value(value: ast.expr, keys: frozenset[object] | None) -> ast.expr:
    """Return an expression of which only some keys are used; None as an expression for no key.

    Raises:
        RefusedError: only a part of it is used.
    """
    if keys is None:
        return value
    if not keys:
        return ast.Constant(None)
    raise RefusedError("a value of which only a part is an input", getattr(value, "lineno", 0))


def judged_rows(target: ast.expr, rows: ast.expr, scope: Scope) -> ast.expr:
    """Return the rows for the process of the tests, without what only the code gives.

    Raises:
        RefusedError: only the code knows how many rows there are.
    """
    found = split_rows(rows, scope.literals)
    if found is None:
        if scope.is_dependent(rows):
            raise RefusedError("a table that the code gives", rows.lineno)
        return rows
    cells = {name for name in bound_names(target) if scope.levels.get(name) == Level.DEPENDENT}
    uses: dict[str, frozenset[object] | None] = {
        name: frozenset() if name in cells else None for name in bound_names(target)
    }
    return ast.List([_project(target, row, uses) for row in found], ast.Load())
