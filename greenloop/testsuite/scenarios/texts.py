"""Parts of both texts of a plan"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from greenloop.testsuite.scenarios.module_symbols import ClassSymbol
from greenloop.testsuite.scenarios.names import get_dotted_name
from greenloop.testsuite.scenarios.nodes import expression, name
from greenloop.testsuite.scenarios.reading.decorators import Table

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # the statements in a statement


class JudgeForms(ast.NodeTransformer):
    """Replaces questions about classes and identity by those that work for copies of values."""

    _functions: ClassVar = {
        "isinstance": "is_instance__",
        "issubclass": "is_subclass__",
        "type": "type_of__",
    }

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = get_dotted_name(node.func)
        if called in self._functions and len(node.args) == (1 if called == "type" else 2):
            node.func = name(self._functions[called])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        form = "is_same__(_l, _r)" if isinstance(node.ops[0], ast.Is) else "not is_same__(_l, _r)"
        return expression(form, _l=node.left, _r=node.comparators[0])


def take_imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Remove and return all imports, also those inside of functions."""
    found: list[ast.Import | ast.ImportFrom] = []
    pending: list[ast.AST] = [tree]
    for node in pending:  # grows: the outer statements first
        for key in _BLOCKS:
            body = getattr(node, key, None)
            if isinstance(body, list):
                taken = [part for part in body if isinstance(part, (ast.Import, ast.ImportFrom))]
                found += taken
                if taken:
                    kept = [part for part in body if part not in taken]
                    setattr(node, key, kept or [ast.Pass()])
                pending += body
    return found


def names_of_imports(
    imports: list[ast.Import | ast.ImportFrom],
) -> Iterator[tuple[str, str, str]]:
    """Yield the name that each import binds, the module at its root, and its text."""
    for node in imports:
        for item in node.names:
            single: ast.stmt = ast.Import([item])
            source = item.name
            if isinstance(node, ast.ImportFrom):
                single, source = ast.ImportFrom(node.module, [item], node.level), node.module or ""
            key = item.asname or item.name.partition(".")[0]
            yield key, source.partition(".")[0], ast.unparse(single)


def render_entry(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    fixtures: str,
    tables: tuple[Table, ...],
    rows: list[ast.expr],
) -> str:
    """Return the entry of a function in the list of its text."""
    listed = []
    for table, found in zip(tables, rows, strict=True):
        text = ast.unparse(found)
        text = text if len(table.names) > 1 else f"[(row,) for row in {text}]"
        listed.append(f"({table.names!r}, {text})")
    return f"({function.name}, {fixtures}lambda: [{', '.join(listed)}])"


def render_stand_ins(key: str, module: str, classes: dict[str, ClassSymbol]) -> Iterator[str]:
    """Yield statements that bind a name of the module, or the module, to stand-ins for classes."""
    if key in classes:
        yield f"{key} = {_render_symbol(module, classes[key])}"
    members = {k.partition(".")[2]: v for k, v in classes.items() if k.startswith(f"{key}.")}
    if members:
        yield f"class {key}:"
        yield from (f"    {k} = {_render_symbol(module, found)}" for k, found in members.items())


def _render_symbol(module: str, symbol: ClassSymbol) -> str:
    fields = "".join(f"({key!r}, {text or 'REQUIRED__'}), " for key, text in symbol.fields)
    return f"symbol__({symbol.module or module!r}, {symbol.name!r}, {symbol.kind!r}, ({fields}))"
