"""Parts of both texts of a plan"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import ClassVar

from greenloop.testsuite.scenarios.names import Function, dotted_name
from greenloop.testsuite.scenarios.nodes import expression, name, tuple_of
from greenloop.testsuite.scenarios.reading.decorators import Table
from greenloop.testsuite.scenarios.splitting.steps import Uses


class JudgeForms(ast.NodeTransformer):
    """Replaces questions about classes and identity by those that work for copies of values."""

    _functions: ClassVar = {
        "isinstance": "is_instance__",
        "issubclass": "is_subclass__",
        "type": "type_of__",
    }

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = dotted_name(node.func)
        if called in self._functions and len(node.args) == (1 if called == "type" else 2):
            node.func = name(self._functions[called])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        form = "is_same__(_l, _r)" if isinstance(node.ops[0], ast.Is) else "not is_same__(_l, _r)"
        return expression(form, _l=node.left, _r=node.comparators[0])


def remove_imports(tree: ast.Module) -> None:
    """Remove all imports, which stand at the top of both texts."""
    kinds = (ast.Import, ast.ImportFrom)
    for node in ast.walk(tree):
        for key, body in ast.iter_fields(node):
            if isinstance(body, list) and any(isinstance(part, kinds) for part in body):
                kept = [part for part in body if not isinstance(part, kinds)]
                setattr(node, key, kept or [ast.Pass()])


def build_function(
    label: str, parameters: list[str], body: list[ast.stmt], *, is_async: bool = False
) -> ast.FunctionDef | ast.AsyncFunctionDef:
    text = f"{'async ' if is_async else ''}def {label}({', '.join(parameters)}): pass"
    made = ast.parse(text).body[0]
    assert isinstance(made, Function)
    made.body = body or [ast.Pass()]
    return made


def build_entry(
    label: str, fixtures: tuple[str, ...] | None, tables: tuple[Table, ...], rows: list[ast.expr]
) -> ast.expr:
    """Return the entry of a function in the list of its text."""
    listed = [
        tuple_of([expression(repr(table.names)), _as_tuples(table, found)])
        for table, found in zip(tables, rows, strict=True)
    ]
    given = expression("lambda: _t", _t=ast.List(list[ast.expr](listed), ast.Load()))
    parts: list[ast.expr] = [name(label)]
    if fixtures is not None:
        parts.append(expression(repr(fixtures)))
    return tuple_of([*parts, given])


def _as_tuples(table: Table, rows: ast.expr) -> ast.expr:
    if len(table.names) > 1:
        return rows
    if isinstance(rows, ast.List):
        return ast.List([tuple_of([item]) for item in rows.elts], ast.Load())
    return expression("[(row,) for row in _r]", _r=rows)


def used_imports(
    node: ast.Import | ast.ImportFrom, uses: Uses
) -> Iterator[ast.Import | ast.ImportFrom]:
    for item in node.names:
        if (item.asname or item.name.partition(".")[0]) in uses or node_is_future(node):
            yield import_of(node, item)


def root_module(node: ast.Import | ast.ImportFrom, item: ast.alias) -> str:
    found = node.module or "" if isinstance(node, ast.ImportFrom) else item.name
    return found.partition(".")[0]


def node_is_future(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether an import changes how the text is compiled."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def import_of(node: ast.Import | ast.ImportFrom, item: ast.alias) -> ast.Import | ast.ImportFrom:
    if isinstance(node, ast.ImportFrom):
        return ast.ImportFrom(node.module, [item], node.level)
    return ast.Import([item])


def without_repetition(nodes: Iterable[ast.stmt]) -> list[ast.stmt]:
    return list({ast.unparse(ast.fix_missing_locations(node)): node for node in nodes}.values())


def imports_of(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield all imports of a test file, also those inside of functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
