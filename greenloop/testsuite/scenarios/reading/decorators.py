"""Tables of parameters of tests"""

from __future__ import annotations

import ast
from typing import NamedTuple

from greenloop.testsuite.scenarios.names import Function, get_dotted_name
from greenloop.testsuite.scenarios.nodes import copy_node, locate_like
from greenloop.testsuite.scenarios.records import RefusedError

# Functions of `unittest.mock` by the arguments with which they make a mock; `dict` makes none.
_PATCHES = {"patch": 1, "patch.object": 2, "patch.dict": -1}


class Table(NamedTuple):
    """The rows of one `parametrize`: names of its columns, and an expression for the rows."""

    names: tuple[str, ...]
    rows: ast.expr

    @property
    def target(self) -> ast.expr:
        """The names as what a row is assigned to."""
        names: list[ast.expr] = [ast.Name(item, ast.Store()) for item in self.names]
        return names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())


def patch_blocks(node: Function, body: list[ast.stmt]) -> tuple[list[ast.stmt], set[str]]:
    """Return the body of a test within `with` blocks for its `@patch` decorators.

    The second value is the parameters that these give to the test: the last decorator's come first.
    """
    names = iter([item.arg for item in node.args.args if item.arg not in ("self", "cls")])
    bound: set[str] = set()
    for item in reversed(node.decorator_list):
        if not is_patch(item):
            continue
        assert isinstance(item, ast.Call)
        parameter = next(names, "") if _gives_mock(item) else ""
        target = ast.Name(parameter, ast.Store()) if parameter else None
        bound |= {parameter} - {""}
        body = [locate_like(ast.With([ast.withitem(copy_node(item), target)], body), item)]
    return body, bound


def is_patch(node: ast.expr) -> bool:
    """Return whether a decorator is a call of `patch`, `patch.object` or `patch.dict`."""
    called = get_dotted_name(node.func) if isinstance(node, ast.Call) else ""
    return called.removeprefix("unittest.").removeprefix("mock.") in _PATCHES


def _gives_mock(node: ast.Call) -> bool:
    """Return whether the mock that takes the place of something is an argument of the test."""
    given = {item.arg for item in node.keywords}
    count = _PATCHES[get_dotted_name(node.func).removeprefix("unittest.").removeprefix("mock.")]
    return len(node.args) == count and "new" not in given


def read_table(node: ast.Call) -> Table:
    """Return the table of a call of `parametrize`. Raises RefusedError for unusual forms."""
    options = {item.arg: item.value for item in node.keywords if item.arg not in ("ids", "scope")}
    indirect = options.pop("indirect", ast.Constant(False))
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
    try:
        chosen = ast.literal_eval(indirect)
    except ValueError:
        raise RefusedError("parametrize in an unusual form", node.lineno) from None
    through = columns if chosen is True else chosen or ()
    return Table(tuple(parameter_name(i) if i in through else i for i in columns), given[1])


def parameter_name(fixture: str) -> str:
    """Return the name of the column that holds the parameters of a fixture."""
    return f"param__{fixture}"
