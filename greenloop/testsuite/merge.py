"""Additions to a test file: name clashes, and imports that belong at its top."""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import islice

from greenloop.syntax.nodes import (
    Definition,
    Import,
    find_head_end,
    get_assigned_targets,
    list_lines,
)
from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.syntax.source import split_lines


def find_clashes(existing: str, added: str) -> tuple[str, ...]:
    """Return the top-level names that `added` and `existing` define differently.

    A redefined helper would change existing tests. () if either file does not parse.
    """
    before, new = _collect_definitions(existing), _collect_definitions(added)
    return tuple(name for name, text in new.items() if before.get(name, text) != text)


def remove_future_imports(code: str) -> str:
    """Return the code without `from __future__` imports, which are valid only at a file's top."""
    return _remove_statements(
        code, lambda node: isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )


def _remove_statements(code: str, is_removed: Callable[[ast.stmt], bool]) -> str:
    """Return the code without the lines of some top-level statements, and the blank lines above.

    A line that also has another statement stays.
    """
    body, lines = parse_or_empty(code).body, split_lines(code)
    kept = {line for node in body if not is_removed(node) for line in list_lines(node)}
    removed = {line for node in body if is_removed(node) for line in list_lines(node)} - kept
    for number, line in reversed(list(enumerate(lines, 1))):
        if number + 1 in removed and not line.strip():
            removed.add(number)
    return "".join(line for number, line in enumerate(lines, 1) if number not in removed)


def append_tests(code: str, added: str) -> str:
    """Return a file with the tests of another file appended, and that file's imports at its top.

    If an imported name means something else in the file, each added test does the imports itself.
    """
    tree, own = parse_or_none(added), parse_or_none(code)
    if not tree or not own or not own.body:
        return f"{code.strip()}\n\n\n{added}".strip() + "\n"
    imports = [item for item in tree.body if isinstance(item, Import)]
    rest = _remove_statements(added, lambda node: isinstance(node, Import))
    if find_clashes(code, "\n".join(map(ast.unparse, imports))):
        inner = "".join(f"\n    {ast.unparse(item)}" for item in imports)
        rest = re.sub(
            r"^(def test_\w+\([^()]*\)(?: -> None)?:)$", rf"\1{inner}", rest, flags=re.MULTILINE
        )
        return f"{code.strip()}\n\n\n{rest.strip()}\n"
    known = _collect_definitions(code)
    missing = [line for item in imports if (line := _select_names(item, known))]
    lines, at = split_lines(code), find_head_end(own, lambda node: isinstance(node, Import))
    head, tail = "".join(lines[:at]).rstrip("\r\n"), "".join(lines[at:])
    return "\n".join([head, *missing, tail]).strip() + f"\n\n\n{rest.strip()}\n"


def _select_names(node: Import, known: dict[str, str]) -> str:
    """Return an import without the names that are known; '' if all are."""
    names = [item for item in node.names if (item.asname or item.name) not in known]
    if not names:
        return ""
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(node.module, names, node.level))


def _collect_definitions(code: str) -> dict[str, str]:
    """Return a text for each name's definition; equal texts are equal definitions."""
    return dict(pair for node in parse_or_empty(code).body for pair in _parse_definitions(node))


def _parse_definitions(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, Import):
        origin = f"{node.level * '.'}{node.module}" if isinstance(node, ast.ImportFrom) else ""
        for item in node.names:
            bound = item.asname or (item.name if origin else item.name.partition(".")[0])
            yield bound, f"import {origin} {item.name}"
    elif isinstance(node, Definition):
        yield node.name, ast.dump(node)
    elif get_assigned_targets(node):
        names = (item.id for item in ast.walk(node) if isinstance(item, ast.Name))
        yield from ((name, ast.dump(node)) for name in islice(names, 1))
