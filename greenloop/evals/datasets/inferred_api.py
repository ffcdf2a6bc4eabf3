"""Names that tests expect of a module, inferred from their use."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from greenloop.syntax.nodes import bound_names


@dataclass(frozen=True)
class UsedName:
    """A name of the module."""

    name: str
    parameters: int | None = None  # None where the tests never call it
    example: str = ""  # the first call, without the expected result


def find_used_names(
    trees: Iterable[ast.Module], known_names: Collection[str] = ()
) -> tuple[UsedName, ...]:
    """Return the used names, called ones first, in the order of their use.

    `known_names` are known names of the module, which may shadow a builtin.
    """
    trees = tuple(trees)
    nodes = [node for tree in trees for node in ast.walk(tree)]
    bound = (set(dir(builtins)) - set(known_names)) | bound_names(nodes)
    calls: dict[str, UsedName] = {}
    mentioned: dict[str, UsedName] = {}
    ignored = bound | set(_stdlib_references(trees))
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in bound:
                count = len(node.args) + len(node.keywords)
                used = UsedName(node.func.id, count, ast.unparse(node))
                calls.setdefault(node.func.id, used)
        elif isinstance(node, ast.Name) and node.id not in ignored:
            mentioned.setdefault(node.id, UsedName(node.id))
    return tuple({**mentioned, **calls}[name] for name in dict.fromkeys((*calls, *mentioned)))


def find_used_modules(trees: Iterable[ast.Module]) -> tuple[str, ...]:
    """Return the modules of the standard library that are used but not imported."""
    trees = tuple(trees)
    bound = bound_names(node for tree in trees for node in ast.walk(tree))
    return tuple(name for name in dict.fromkeys(_stdlib_references(trees)) if name not in bound)


def _stdlib_references(trees: Iterable[ast.Module]) -> Iterator[str]:
    for node in (node for tree in trees for node in ast.walk(tree)):
        base = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(base, ast.Name) and base.id in sys.stdlib_module_names:
            yield base.id
