"""New tests for a file that has some already: what must not clash, and how they are joined."""

from __future__ import annotations

import ast

from greenloop.testsuite.parser import Function


def find_clashes(existing: str, added: str) -> tuple[str, ...]:
    """Top-level names that `added` would define again, otherwise than `present` does.

    A helper that changes its meaning would change the tests that stand. () where either does not
    parse: that is said elsewhere.
    """
    try:
        before, new = _collect_definitions(existing), _collect_definitions(added)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(name for name, how in new.items() if name in before and before[name] != how)


def remove_future_imports(code: str) -> str:
    """Without `from __future__` imports, which may only stand at a file's beginning."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    gone = {
        line
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = code.split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)


def _collect_definitions(code: str) -> dict[str, str]:
    """By name, how it comes about: equal texts mean the same."""
    found: dict[str, str] = {}
    for node in ast.parse(code).body:
        for name, how in _parse_definitions(node):
            found[name] = how
    return found


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
