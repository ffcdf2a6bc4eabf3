"""Test doubles: names that a test, or a file for all its tests, replaces."""

import ast
import re
from collections.abc import Iterator
from unittest import TestCase

from greenloop.project.weakening.conditions.strength import EXPECTING
from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import parse_or_empty

_SPECIAL = re.compile(r"__(call|init|new)__")
_PATCHING = re.compile(r"(^|\.)(patch(\.(object|dict|multiple))?|setattr|setitem)$")


def list_patches(text: str) -> dict[str, int]:
    """Return the last names that a file replaces for several tests, with their lines.

    It does so at import, in an `autouse` fixture, or by an assertion method of a class.
    """
    found: dict[str, int] = {}
    for node in parse_or_empty(text).body:
        marks = map(ast.unparse, node.decorator_list) if isinstance(node, Function) else ()
        is_fixture = any("autouse=True" in mark for mark in marks)
        if isinstance(node, ast.ClassDef):
            own = (i for i in node.body if isinstance(i, Function) and is_tool(i.name))
            found.update((i.name, i.lineno) for i in own)
        elif is_fixture or not isinstance(node, Function):
            targets = (i for n in ast.walk(node) if isinstance(n, ast.Assign) for i in n.targets)
            names = [i.attr for i in targets if isinstance(i, ast.Attribute)]
            found.update(dict.fromkeys([*names, *list_mocked(node)], node.lineno))
    return found


def list_shadowed(before: str, after: str) -> dict[str, int]:
    """Return the names that a file imported before and now defines itself, with their lines."""
    imports = (i for i in ast.walk(parse_or_empty(before)) if isinstance(i, ast.ImportFrom))
    names = {alias.asname or alias.name for item in imports for alias in item.names}
    found: dict[str, int] = {}
    for node in parse_or_empty(after).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        own = [node.name] if isinstance(node, Definition) else []
        own += [item.id for item in targets if isinstance(item, ast.Name)]
        found.update((name, node.lineno) for name in own if name in names)
    return found


def is_tool(name: str) -> bool:
    """Return whether a name is that of an assertion of pytest or unittest."""
    return name in EXPECTING or (name.startswith("assert") and hasattr(TestCase, name))


def list_mocked(node: ast.AST) -> Iterator[str]:
    """Yield the last names that a test replaces by `patch`, `monkeypatch` or an assignment.

    A local name counts only if the test calls it.
    """
    calls = [item for item in ast.walk(node) if isinstance(item, ast.Call)]
    called = {item.func.id for item in calls if isinstance(item.func, ast.Name)}
    for item in ast.walk(node):
        if isinstance(item, ast.Call) and _PATCHING.search(ast.unparse(item.func)):
            names = [name for target in item.args[:2] if (name := _read_last_name(target))]
            yield from names
            if any(map(_SPECIAL.fullmatch, names)):  # a call of the object runs these methods
                yield ast.unparse(item.args[0]).rpartition(".")[2]
        elif isinstance(item, ast.Assign) and _is_double(item.value):
            yield from (i.attr for i in item.targets if isinstance(i, ast.Attribute))
            own = (i.id for i in item.targets if isinstance(i, ast.Name))
            yield from (name for name in own if name in called)


def _read_last_name(target: ast.expr) -> str:
    """Return the last part of a dotted name in a text, f-string or sum, '' for anything else."""
    match target:
        case ast.Constant(value=str(text)):
            return text.rpartition(".")[2]
        case ast.JoinedStr(values=[*_, last]) | ast.BinOp(op=ast.Add(), right=last):
            return _read_last_name(last)
    return ""


def _is_double(value: ast.expr) -> bool:
    return isinstance(value, ast.Lambda) or "Mock" in ast.unparse(value)
