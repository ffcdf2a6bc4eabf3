"""Changes of literals that are arguments of a record of the module, as in `Point(1, 2)`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection
from typing import TypeVar

from greenloop.grading.assertion_mutation.literals import change_literal
from greenloop.syntax.nodes import get_last_name
from greenloop.syntax.parse import parse_or_none, read_literal

# Methods by which two records with different arguments may be equal, or that may refuse one.
_OWN_METHODS = frozenset(
    "__eq__ __init__ __new__ __post_init__ __setattr__ __getattribute__".split()
)
_PARTS = ("keywords", "args", "elts", "values")
_Node = TypeVar("_Node", bound=ast.AST)


def find_records(code: str) -> frozenset[str]:
    """Return the classes of a module whose instances are equal only where all their fields are."""
    tree = parse_or_none(code)
    classes = [node for node in (tree.body if tree else []) if isinstance(node, ast.ClassDef)]
    return frozenset(node.name for node in classes if _compares_fields(node))


def _compares_fields(node: ast.ClassDef) -> bool:
    methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    words = {item.arg for item in ast.walk(node) if isinstance(item, ast.keyword)}
    if methods & _OWN_METHODS or words & {"eq", "compare", "metaclass"}:
        return False
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    if [ast.unparse(item) for item in node.bases] in (["NamedTuple"], ["typing.NamedTuple"]):
        return not decorators
    return not node.bases and [get_last_name(item) for item in decorators] == ["dataclass"]


def change_record(node: ast.expr, records: Collection[str]) -> str | None:
    """Return a record, or a list, tuple or dictionary of some, with its last literal changed.

    None where it is none, or no argument is a literal.
    """
    changed = _change(node, records, is_argument=False)
    return None if changed is None else ast.unparse(changed)


def _change(node: _Node, records: Collection[str], *, is_argument: bool) -> _Node | None:
    if isinstance(node, ast.keyword):
        value = _change(node.value, records, is_argument=is_argument)
        return _replace(node, "value", value) if value else None
    if is_argument and isinstance(node, ast.expr) and read_literal(node):
        other = change_literal(node)
        return ast.parse(other, mode="eval").body if other else None  # type: ignore[return-value]
    is_record = isinstance(node, ast.Call) and get_last_name(node.func) in records
    if not is_record and not isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
        return None
    for name in _PARTS:
        items = getattr(node, name, [])
        for at in reversed(range(len(items))):
            if found := _change(items[at], records, is_argument=is_argument or is_record):
                return _replace(node, name, [*items[:at], found, *items[at + 1 :]])
    return None


def _replace(node: _Node, name: str, value: object) -> _Node:
    changed = copy.copy(node)
    setattr(changed, name, value)
    return changed
