"""Classes of the module under test that the process of the tests can stand in for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple

from greenloop.syntax.nodes import get_last_name
from greenloop.syntax.parse import parse_or_none

SymbolKind = Literal["class", "enum", "flag", "record"]
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_FLAG_BASES = frozenset({"Flag", "IntFlag"})
_PLAIN_BASES = frozenset({"object", "ABC", "Generic"})
_OWN_CONSTRUCTION = frozenset({"__new__", "__getattribute__", "__setattr__"})


class ClassSymbol(NamedTuple):
    """A class as its source describes it."""

    name: str
    kind: SymbolKind = "class"
    # Or members, each with its default or value, '' for none.
    fields: tuple[tuple[str, str], ...] = ()
    module: str = ""  # that defines the class, where it is not the one under test


def read_symbols(code: str) -> dict[str, ClassSymbol]:
    """Return what the source of a module says about its classes; nothing where it cannot be parsed.

    Protocols are left out, as their instances are not known by their bases.
    """
    tree = parse_or_none(code)
    classes = [node for node in (tree.body if tree else []) if isinstance(node, ast.ClassDef)]
    plain = set(_PLAIN_BASES)
    for node in classes:
        if _is_plain(node) and _name_bases(node) <= plain:
            plain.add(node.name)
    return {
        node.name: _read_class(node, plain)
        for node in classes
        if "Protocol" not in _name_bases(node)
    }


def _name_bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def _is_plain(node: ast.ClassDef) -> bool:
    """Return whether a class adds nothing to how instances of its subclasses are made or compared."""
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    special = _OWN_CONSTRUCTION | {"__init__", "__post_init__", "__eq__"}
    return not (node.decorator_list or node.keywords or special & methods)


def _read_class(node: ast.ClassDef, plain: set[str]) -> ClassSymbol:
    bases = _name_bases(node)
    if bases & _ENUM_BASES:
        has_operators = any(isinstance(item, ast.FunctionDef) for item in node.body)
        if bases & _FLAG_BASES and not (has_operators or node.keywords):
            return ClassSymbol(node.name, "flag", tuple(_read_flags(node)))
        return ClassSymbol(node.name, "enum", tuple(_read_members(node)))
    decorators = {ast.unparse(item).partition("(")[0] for item in node.decorator_list}
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    if _OWN_CONSTRUCTION & methods.keys() or bases - plain - {"NamedTuple"}:
        return ClassSymbol(node.name)
    fields: list[tuple[str, str] | None] = [None]
    if "__init__" in methods:
        fields = _read_assignments(methods["__init__"])
    elif "NamedTuple" in bases or any(item.endswith("dataclass") for item in decorators):
        declared = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        fields = [_read_field(item.target, item.value) for item in declared]
    known = tuple(item for item in fields if item is not None)
    is_record = len(known) == len(fields)
    return ClassSymbol(node.name, "record", known) if is_record else ClassSymbol(node.name)


def _read_members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for name, value in _list_assignments(node):
        yield _read_field(ast.Name(name), value) or (name, "")


def _list_assignments(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for item in node.body:
        if isinstance(item, ast.Assign):
            names = (target.id for target in item.targets if isinstance(target, ast.Name))
            yield from ((name, item.value) for name in names)


def _read_flags(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the members of a flag, with the numbers that `auto()` and combinations stand for."""
    known: dict[str, int] = {}
    for name, value in _list_assignments(node):
        number = _find_flag(value, known)
        if number is not None:
            known[name] = number
        yield name, "" if number is None else str(number)


def _find_flag(node: ast.expr, known: dict[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _find_flag(node.left, known), _find_flag(node.right, known)
        return None if left is None or right is None else left | right
    is_auto = get_last_name(node) == "auto"
    return 1 << max(known.values(), default=0).bit_length() if is_auto else None


def _read_assignments(node: ast.FunctionDef) -> list[tuple[str, str] | None]:
    """Return the fields of an `__init__` that only assigns its arguments to them, in their order."""
    arguments = node.args.args[1:]
    fields: dict[str, str] = {}
    for item in node.body:
        target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
        value = getattr(item, "value", None)
        if isinstance(target, ast.Attribute) and isinstance(value, ast.Name):
            fields[value.id] = target.attr
        elif not isinstance(value, ast.Constant) or target is not None:
            return [None]
    if node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        return [None]
    defaults = [None] * (len(arguments) - len(node.args.defaults)) + list(node.args.defaults)
    return [
        _read_field(ast.Name(fields.get(item.arg, "")), default) if item.arg in fields else None
        for item, default in zip(arguments, defaults, strict=True)
    ]


def _read_field(target: ast.expr, value: ast.expr | None) -> tuple[str, str] | None:
    """Return the name and default of a field; None where only the class itself knows them."""
    if not isinstance(target, ast.Name):
        return None
    if value is None:
        return target.id, ""
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return target.id, ast.unparse(value)
