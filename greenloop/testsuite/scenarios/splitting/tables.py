"""Tables of a test: the rows of `parametrize` and of loops, and what of them is input."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping

from greenloop.testsuite.scenarios.names import bound_names, get_dotted_name
from greenloop.testsuite.scenarios.nodes import tuple_of
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope

# The keys of a name's value that the scenario uses; None for the whole value.
Uses = Mapping[str, "frozenset[object] | None"]
# Expressions to which names are bound once, and definitions of the test file.
Known = Mapping[str, ast.AST]
_Sequence = (ast.List, ast.Tuple, ast.Set)


def split_rows(rows: ast.AST, literals: Known) -> list[ast.expr] | None:
    """Return the rows of a table as expressions; None where it is computed."""
    rows = literals.get(get_dotted_name(rows), rows)
    if isinstance(rows, ast.Call):
        return _split_call(rows, literals)
    if isinstance(rows, ast.Dict):
        return _split_dictionary(rows, "keys")
    if isinstance(rows, _Sequence):
        found = [_cells_of_param(item) for item in rows.elts]
        return None if any(isinstance(item, ast.Starred) for item in found) else found
    return None


def _split_call(rows: ast.Call, literals: Known) -> list[ast.expr] | None:
    """Return the rows of a table that functions of built-in types make of others."""
    function = rows.func
    if isinstance(function, ast.Attribute) and not rows.args and not rows.keywords:
        table = literals.get(get_dotted_name(function.value), function.value)
        return _split_dictionary(table, function.attr) if isinstance(table, ast.Dict) else None
    tables = [split_rows(item, literals) for item in rows.args]
    known = [item for item in tables if item is not None]
    if not known or len(known) < len(tables):
        return None
    match get_dotted_name(function), known:
        case "list" | "tuple", [found] if not rows.keywords:
            return found
        case "enumerate", [found] if not rows.keywords:
            return [tuple_of([ast.Constant(at), item]) for at, item in enumerate(found)]
        case "zip", _ if len({len(item) for item in known}) == 1:
            return [tuple_of(list(items)) for items in zip(*known, strict=True)]
    return None


def _split_dictionary(table: ast.Dict, method: str) -> list[ast.expr] | None:
    keys = [key for key in table.keys if isinstance(key, ast.expr)]
    if len(keys) < len(table.keys) or len(set(map(ast.dump, keys))) < len(keys):
        return None
    pairs = [tuple_of([key, item]) for key, item in zip(keys, table.values, strict=True)]
    return {"keys": keys, "values": table.values, "items": pairs}.get(method)  # type: ignore[return-value]


def _cells_of_param(node: ast.expr) -> ast.expr:
    """Return the row of `pytest.param(...)`, whose id and marks stay behind."""
    if isinstance(node, ast.Call) and get_dotted_name(node.func) in ("pytest.param", "param"):
        if any(item.arg == "marks" for item in node.keywords):
            raise RefusedError("a row with marks", node.lineno)
        return node.args[0] if len(node.args) == 1 else tuple_of(list(node.args))
    return node


def read_columns(
    target: ast.expr, rows: ast.expr, literals: Known
) -> dict[str, list[ast.expr]] | None:
    """Return the cells of each name of a target; None where the table is computed."""
    found = split_rows(rows, literals)
    if found is None:
        return None
    columns: dict[str, list[ast.expr]] = {name: [] for name in bound_names(target)}
    for row in found:
        for name, cell in match_target(target, row):
            columns[name].append(cell)
    is_complete = all(len(cells) == len(found) for cells in columns.values())
    return columns if is_complete else None


def match_target(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a target, each with its part of a value, as far as the two match."""
    if isinstance(target, ast.Name):
        yield target.id, value
    for part, cell in _pairs(target, value):
        yield from match_target(part, cell)


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
    if level is Level.DEPENDENT and any(ast.unparse(cell) != "None" for cell in plain):
        raise RefusedError(f"the column {name} mixes values and what the code gives")
    mutable = [cell for cell in cells if not scope.is_immutable(cell)]
    scope.bind([name], mutable[0] if mutable else cells[0], level)
    if all(map(scope.is_object, cells)):
        scope.objects.add(name)


def project_table(target: ast.expr, rows: ast.expr, uses: Uses, literals: Known) -> ast.expr:
    """Return the rows with a hole in each position that the scenario does not use.

    Raises:
        RefusedError: the table is computed, and not all of it is used.
    """
    names = bound_names(target)
    found = split_rows(rows, literals)
    if found is not None:
        return ast.List([_project(target, row, uses, literals) for row in found], ast.Load())
    is_count = isinstance(rows, ast.Call) and get_dotted_name(rows.func) == "range"
    if is_count or all(uses.get(name, frozenset()) is None for name in names):
        return rows
    raise RefusedError("a computed table of inputs and expected values", rows.lineno)


def _project(target: ast.expr, value: ast.expr, uses: Uses, literals: Known) -> ast.expr:
    if isinstance(target, ast.Name):
        return project_value(value, uses.get(target.id, frozenset()), literals)
    pairs = _pairs(target, value)
    if pairs:
        return tuple_of([_project(part, cell, uses, literals) for part, cell in pairs])
    if all(uses.get(name, frozenset()) is None for name in bound_names(target)):
        return value
    raise RefusedError("a row whose parts cannot be determined", getattr(value, "lineno", 0))


def project_value(value: ast.expr, keys: frozenset[object] | None, literals: Known) -> ast.expr:
    """Return an expression with None for the parts of it that are not used, `keys` None: all are.

    Raises:
        RefusedError: only a part of it is used, and the parts are not known.
    """
    if keys is None:
        return value
    if not keys:
        return ast.Constant(None)
    made = copy.copy(value)
    if isinstance(made, ast.Dict) and all(isinstance(key, ast.Constant) for key in made.keys):
        names = [getattr(key, "value", None) for key in made.keys]
        made.values = _keep(names, made.values, keys)
    elif isinstance(made, (ast.List, ast.Tuple)):
        made.elts = _keep(range(len(made.elts)), made.elts, keys)
    elif isinstance(made, ast.Call) and (fields := read_fields(made, literals)):
        made.args = _keep(fields, made.args, keys)
        named = [(item.arg, item.value) for item in made.keywords]
        kept = _keep([name for name, _ in named], [item for _, item in named], keys)
        made.keywords = [ast.keyword(name, i) for (name, _), i in zip(named, kept, strict=True)]
    else:
        raise RefusedError("a value of which only a part is an input", getattr(value, "lineno", 0))
    return made


def _keep(
    names: Iterable[object], values: list[ast.expr], keys: frozenset[object]
) -> list[ast.expr]:
    pairs = zip(names, values, strict=False)
    return [item if name in keys else ast.Constant(None) for name, item in pairs]


def read_fields(node: ast.expr, literals: Known) -> list[str]:
    """Return the fields of a plain record that a call makes, in order; [] for all others."""
    if not isinstance(node, ast.Call):
        return []
    found = literals.get(get_dotted_name(node.func))
    body = found.body if isinstance(found, ast.ClassDef) else []
    fields = [ast.unparse(item.target) for item in body if isinstance(item, ast.AnnAssign)]
    is_plain = len(fields) == len(body) and not any(
        isinstance(item, ast.Starred) for item in node.args
    )
    return fields if is_plain else []


def build_judged_rows(target: ast.expr, rows: ast.expr, scope: Scope) -> ast.expr:
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
    return ast.List([_project(target, row, uses, scope.literals) for row in found], ast.Load())
