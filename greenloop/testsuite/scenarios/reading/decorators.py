"""Tables of parameters of tests"""

from __future__ import annotations

import ast
from dataclasses import dataclass

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
    """Return the table of a call of `parametrize`. Raises RefusedError for unusual forms."""
    options = {item.arg: item.value for item in node.keywords if item.arg not in ("ids", "scope")}
    given = [*node.args, *options.values()]
    try:
        columns = ast.literal_eval(given[0])
    except (ValueError, IndexError):
        columns = []
    if isinstance(columns, str):
        columns = [item.strip() for item in columns.split(",") if item.strip()]
    elif len(columns) == 1:
        columns = []  # rows are tuples of one
    if not columns or len(given) != 2 or options.keys() - {"argnames", "argvalues"}:
        raise RefusedError("parametrize in an unusual form", node.lineno)
    return Table(tuple(columns), given[1])
