"""Additions to a test file: name clashes, and imports that are valid only at its top."""

from __future__ import annotations

import ast

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.parser import Function


def find_clashes(existing: str, added: str) -> tuple[str, ...]:
    """Return the top-level names that `added` defines otherwise than `existing` does.

    A redefined helper would change existing tests. () where either file does not parse.
    """
    before, new = _collect_definitions(existing), _collect_definitions(added)
    return tuple(name for name, text in new.items() if before.get(name, text) != text)


def remove_future_imports(code: str) -> str:
    """Return the code without `from __future__` imports, which are valid only at a file's top."""
    tree = parse_or_none(code)
    removed = {
        line
        for node in (tree.body if tree else ())
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = code.split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in removed)


def _collect_definitions(code: str) -> dict[str, str]:
    """Return a text for each name's definition; equal texts are equal definitions."""
    tree = parse_or_none(code)
    nodes = tree.body if tree else []
    return {name: text for node in nodes for name, text in _parse_definitions(node)}


def _parse_definitions(node: ast.stmt) -> list[tuple[str, str]]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        origin = f"{node.level * '.'}{node.module}" if isinstance(node, ast.ImportFrom) else ""
        return [
            (_get_bound_name(item, origin), f"import {origin} {item.name}") for item in node.names
        ]
    if isinstance(node, (Function, ast.ClassDef)):
        return [(node.name, ast.dump(node))]
    names = [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]
    stored = isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
    return [(name, ast.dump(node)) for name in names[:1]] if stored else []


def _get_bound_name(item: ast.alias, origin: str) -> str:
    return item.asname or (item.name if origin else item.name.partition(".")[0])
