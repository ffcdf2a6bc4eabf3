"""Classes of the module under test that the process of the tests can stand in for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from greenloop.syntax.parse import parse_or_none

SymbolKind = Literal["class", "enum", "record"]
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_OWN_BEHAVIOUR = frozenset({"__eq__", "__init__", "__new__", "__post_init__", "__getattribute__"})


@dataclass(frozen=True)
class ClassSymbol:
    """A class as its source describes it.

    `fields` are the arguments of a record with their defaults as text, '' where there is none;
    `members` the names of an enumeration.
    """

    name: str
    kind: SymbolKind = "class"
    fields: tuple[tuple[str, str], ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModuleSymbols:
    """The classes of a module, and the functions whose annotation says that they return one."""

    classes: dict[str, ClassSymbol] = field(default_factory=dict)
    factories: frozenset[str] = frozenset()


def read_symbols(code: str) -> ModuleSymbols:
    """Return what the source of a module says about its classes; nothing where it cannot be parsed."""
    tree = parse_or_none(code)
    body = tree.body if tree else []
    classes = {node.name: _read_class(node) for node in body if isinstance(node, ast.ClassDef)}
    factories = frozenset(
        node.name
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.returns is not None
        and ast.unparse(node.returns).strip("'\"") in classes
    )
    return ModuleSymbols(classes, factories)


def _read_class(node: ast.ClassDef) -> ClassSymbol:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if bases & _ENUM_BASES:
        members = tuple(name for item in node.body for name in _assigned_names(item))
        return ClassSymbol(node.name, "enum", members=members)
    decorators = {ast.unparse(item).partition("(")[0] for item in node.decorator_list}
    is_record = "NamedTuple" in bases or (
        not node.bases and any(item.endswith("dataclass") for item in decorators)
    )
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    if not is_record or methods & _OWN_BEHAVIOUR:
        return ClassSymbol(node.name)
    fields = [_read_field(item) for item in node.body if isinstance(item, ast.AnnAssign)]
    if None in fields:
        return ClassSymbol(node.name)
    return ClassSymbol(node.name, "record", tuple(item for item in fields if item is not None))


def _assigned_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        yield from (item.id for item in node.targets if isinstance(item, ast.Name))


def _read_field(node: ast.AnnAssign) -> tuple[str, str] | None:
    """Return the name and default of a field; None where only the class itself knows them."""
    if not isinstance(node.target, ast.Name):
        return None
    if node.value is None:
        return node.target.id, ""
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return node.target.id, ast.unparse(node.value)
