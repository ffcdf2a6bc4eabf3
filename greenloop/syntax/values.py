"""Source of plain values: literals, and calls of the standard types of numbers, dates and times."""

import ast
import datetime
import importlib
import math
import sys
from typing import Any

from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import PARSE_ERRORS, cache_by_source, parse_or_empty, read_literal

_MODULES = {
    "Decimal": "decimal",
    "Fraction": "fractions",
    **dict.fromkeys(("date", "datetime", "time", "timedelta", "timezone"), "datetime"),
}


@cache_by_source
def is_plain_value(source: str) -> bool:
    """Return whether an expression is a literal, or made of literals by types such as `Decimal`."""
    try:
        tree = ast.parse(source.strip(), mode="eval")
        return bool(read_literal(_HideCalls().visit(tree)))
    except PARSE_ERRORS:
        return False


def read_plain_value(source: str) -> Any:
    """Return the value of an expression that `is_plain_value`."""
    tree = ast.parse(source.strip(), mode="eval")
    names: dict[str, Any] = {
        name: getattr(importlib.import_module(module), name) for name, module in _MODULES.items()
    }
    if any(_is_of_module(node) for node in ast.walk(tree)):
        names["datetime"] = datetime
    space = {"__builtins__": {}, "set": set, "inf": math.inf, "nan": math.nan, **names}
    return eval(compile(tree, "<value>", "eval"), space)


def find_value_imports(source: str) -> dict[str, str]:
    """Return import lines, by defined name, for the value types and standard modules in a source.

    Modules whose names the source binds are left out. `datetime` is the class in
    `datetime(2024, 1, 2)`, the module in `datetime.date(2024, 1, 2)`.
    """
    nodes = list(ast.walk(parse_or_empty(source.strip())))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    lines = {name: f"from {_MODULES[name]} import {name}" for name in sorted(used & {*_MODULES})}
    if any(_is_of_module(node) for node in nodes):
        lines["datetime"] = "import datetime"
    owners = (node.value for node in nodes if isinstance(node, ast.Attribute))
    modules = {node.id for node in owners if isinstance(node, ast.Name)} & sys.stdlib_module_names
    others = modules - lines.keys() - bound_names(nodes)
    return lines | {name: f"import {name}" for name in sorted(others)}


def name_classes_alike(*sources: str) -> tuple[str, ...]:
    """Write `datetime.date` as `date` in all sources, if one of them calls the class `datetime`."""
    nodes = [node for item in sources for node in ast.walk(ast.parse(item.strip()))]
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    has_class = any(isinstance(item, ast.Name) and item.id == "datetime" for item in called)
    if not has_class or not any(map(_is_of_module, nodes)):
        return sources
    return tuple(ast.unparse(_DropModule().visit(ast.parse(item.strip()))) for item in sources)


def is_value_type(node: ast.expr) -> bool:
    """Return whether an expression names one of the types: `Decimal`, `datetime.date`."""
    return (isinstance(node, ast.Name) and node.id in _MODULES) or _is_of_module(node)


def is_value_constant(node: ast.expr) -> bool:
    """Return whether an expression is `timezone.utc` or `datetime.timezone.utc`."""
    is_utc = isinstance(node, ast.Attribute) and node.attr == "utc" and is_value_type(node.value)
    return is_utc and ast.unparse(node).endswith("timezone.utc")


def _is_of_module(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "datetime"
        and _MODULES.get(node.attr) == "datetime"
    )


class _HideCalls(ast.NodeTransformer):
    """Transformer that replaces calls of value types with plain arguments by a number."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = (*node.args, *(item.value for item in node.keywords))
        is_plain = is_value_type(node.func) and all(is_plain_value(ast.unparse(i)) for i in given)
        return ast.Constant(0) if is_plain else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(0) if is_value_constant(node) else node


class _DropModule(ast.NodeTransformer):
    """Transformer that replaces `datetime.date` by `date`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if _is_of_module(node):
            return ast.Name(node.attr, ast.Load())
        return self.generic_visit(node)  # type: ignore[return-value]


RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12


def approximate_floats(literal: str) -> str:
    """Return the source of a literal with its floats as `pytest.approx(…)`."""
    return ast.unparse(_ApproximateFloats().visit(ast.parse(literal.strip(), mode="eval").body))


class _ApproximateFloats(ast.NodeTransformer):
    """Transformer that replaces floats by `pytest.approx`, except in sets and keys (hashed)."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, float):
            return node
        call = f"pytest.approx({ast.unparse(node)}, rel={RELATIVE_TOLERANCE!r}, abs={ABSOLUTE_TOLERANCE!r})"
        return ast.parse(call, mode="eval").body

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.operand, ast.Constant):
            return node
        value = ast.literal_eval(node)
        return self.visit_Constant(ast.Constant(value)) if isinstance(value, float) else node

    def _keep(self, node: ast.AST) -> ast.AST:
        return node

    visit_Set = _keep
    visit_Call = _keep  # `Decimal("1.5")`: exact
    visit_BinOp = _keep  # a complex number

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.values = [self.visit(item) for item in node.values]
        return node
