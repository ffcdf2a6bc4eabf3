"""Binding of names to written-out values: arguments of helpers, items of tables, unpacked rows."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.syntax.names import iter_assigned
from greenloop.syntax.nodes import Function, copy_tree
from greenloop.testsuite.programs.literals import read_value
from greenloop.testsuite.programs.records import RefusedError
from greenloop.testsuite.programs.rows import Row, assign


def bind_arguments(helper: Function, called: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of parameters. Raises RefusedError."""
    given = helper.args
    names = [item.arg for item in (*given.posonlyargs, *given.args)]
    if isinstance(called.func, ast.Attribute) and names[:1] == ["self"]:
        names = names[1:]
    if given.vararg or given.kwarg or any(isinstance(i, ast.Starred) for i in called.args):
        raise RefusedError("a helper with *args or **kwargs", called)
    values: dict[str, ast.expr] = dict(zip(names[::-1], given.defaults[::-1], strict=False))
    for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        names.append(parameter.arg)
        if default is not None:
            values[parameter.arg] = default
    values |= dict(zip(names, called.args, strict=False))
    values |= {item.arg: item.value for item in called.keywords if item.arg}
    if values.keys() != set(names):
        raise RefusedError("a call that does not fit its helper", called)
    return values


def unpack(target: ast.expr, item: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a target with their values; nothing if these are not written out."""
    if isinstance(target, ast.Name):
        yield target.id, item
        return
    parts, cells = getattr(target, "elts", []), getattr(item, "elts", [])
    if len(parts) == len(cells):
        for one, other in zip(parts, cells, strict=True):
            yield from unpack(one, other)


def split_assignment(node: ast.stmt, known: Row) -> Iterator[ast.stmt]:
    """Yield an assignment of a written-out row to several names as one assignment per name."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        value = node.value
        value = known.get(value.id, value) if isinstance(value, ast.Name) else value
        cells = value.elts if isinstance(value, ast.Tuple) else []
        targets = node.targets[0].elts
        starred = [at for at, item in enumerate(targets) if isinstance(item, ast.Starred)]
        if starred and len(cells) >= len(targets) - 1:
            at, after = starred[0], len(targets) - starred[0] - 1
            rest = ast.List(cells[at : len(cells) - after], ast.Load())
            cells = [*cells[:at], rest, *cells[len(cells) - after :]]
            targets = [getattr(item, "value", item) for item in targets]
        pairs = list(zip(targets, cells, strict=True)) if len(targets) == len(cells) else []
    if not pairs or not all(
        isinstance(item, ast.Name) and read_value(cell) for item, cell in pairs
    ):
        yield node
        return
    for item, cell in pairs:
        yield assign(item.id, copy_tree(cell), node)  # type: ignore[attr-defined]


def find_bound(statements: Sequence[ast.stmt]) -> dict[str, ast.expr | None]:
    """Return the values of names that are assigned once; None for other names that are assigned."""
    counts = Counter(iter_assigned(*statements))
    found: dict[str, ast.expr | None] = dict.fromkeys(counts)
    for node in statements:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and counts[target.id] == 1:
                found[target.id] = node.value
    return found


def find_read_only(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield names used only as a side of a comparison or assertion, or with a simple subscript."""
    nodes = [item for node in statements for item in ast.walk(node)]
    loads = Counter(i.id for i in nodes if isinstance(i, ast.Name) and isinstance(i.ctx, ast.Load))
    allowed: Counter[str] = Counter()
    for node in nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].startswith(
            ("assert", "approx")
        ):
            sides = node.args
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            sides = [node.value] if isinstance(node.slice, (ast.Constant, ast.Name)) else []
        allowed.update(item.id for item in sides if isinstance(item, ast.Name))
    yield from (name for name, count in loads.items() if allowed[name] >= count)
