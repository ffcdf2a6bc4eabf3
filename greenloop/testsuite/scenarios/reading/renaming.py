"""Names: those of what a test file defines are no sign by which code knows the test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from greenloop.testsuite.parser import is_test_class
from greenloop.testsuite.scenarios.names import Function, children, walk
from greenloop.testsuite.scenarios.reading.test_module import fixture_options

_Node = TypeVar("_Node", bound=ast.AST)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def rename(node: _Node, names: Mapping[str, str]) -> _Node:
    """Replace names in a tree, and those of functions and classes; return the tree."""
    for item in walk(node) if names else ():
        if isinstance(item, ast.Name):
            item.id = names.get(item.id, item.id)
        elif isinstance(item, _NAMED):
            item.name = names.get(item.name, item.name)
    return node


def choose_neutral_names(tree: ast.Module) -> dict[str, str]:
    """Return other names for the helpers and classes of a test file.

    Names of arguments are left as they are, as code may know them.
    """
    nodes = list(walk(tree))
    taken = {node.arg for node in nodes if isinstance(node, (ast.arg, ast.keyword))}
    taken |= {
        n for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for n in node.names
    }
    found = [name for name in dict.fromkeys(_find_defined(tree)) if name not in taken]
    return {name: f"definition__{number}" for number, name in enumerate(found)}


def restore_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with the names of the test file."""
    own = {neutral: name for name, neutral in names.items()}
    return re.sub(r"definition__\d+", lambda found: own.get(found[0], found[0]), text)


def _find_defined(node: ast.AST) -> Iterator[str]:
    """Yield the names of functions and classes that are no tests, fixtures or methods."""
    for item in children(node):
        if isinstance(item, ast.ClassDef) and is_test_class(item):
            for method in item.body:
                yield from _find_defined(method)
        elif isinstance(item, ast.ClassDef):
            yield item.name
        else:
            if isinstance(item, Function) and not _is_collected(item):
                yield item.name
            yield from _find_defined(item)


def _is_collected(node: Function) -> bool:
    return node.name.startswith("test") or fixture_options(node) is not None
