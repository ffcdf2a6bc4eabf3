"""Which module is a test file about?"""

from __future__ import annotations

import ast
import site
import sys
from collections.abc import Collection
from importlib.machinery import PathFinder

DEFAULT_MODULE = "solution"


def find_tested_module(test_code: str, packages: Collection[str]) -> str:
    """The module that a test file is about; `solution` where it imports none that is not installed."""
    return find_imported_module(test_code, packages) or DEFAULT_MODULE


def find_imported_module(test_code: str, packages: Collection[str] = ()) -> str | None:
    """The last import of a test file that is not installed here: local ones come last, by custom.

    `packages` are modules that runs have besides what is installed here.
    """
    return next(reversed(list_imported_modules(test_code, packages)), None)


def list_imported_modules(code: str, packages: Collection[str] = ()) -> list[str]:
    """Top-level names of all imports that are not installed here, in the order of the tree."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[str] = []
    for node in ast.walk(tree):
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        tops = [name.partition(".")[0] for name in names]
        found += [name for name in tops if name not in packages and not _is_installed(name)]
    return found


def _is_installed(name: str) -> bool:
    """Not by `find_spec`: that would also find a person's own modules in the current folder."""
    if name in sys.stdlib_module_names:
        return True
    try:
        return PathFinder.find_spec(name, site.getsitepackages()) is not None
    except (ImportError, ValueError):
        return False
