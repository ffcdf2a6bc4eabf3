"""Which module is a test file about?"""

from __future__ import annotations

import ast
import site
import sys
from collections.abc import Collection
from importlib.machinery import PathFinder

DEFAULT = "solution"


def tested_module(test_code: str, packages: Collection[str]) -> str:
    """The module that a test file is about; `solution` where it imports none that is not installed."""
    return imported_module(test_code, packages) or DEFAULT


def imported_module(test_code: str, packages: Collection[str] = ()) -> str | None:
    """The last import of a test file that is not installed here: local ones come last, by custom.

    `packages` are modules that runs have besides what is installed here.
    """
    try:
        tree = ast.parse(test_code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: str | None = None
    for node in ast.walk(tree):
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        for name in names:
            top = name.partition(".")[0]
            if top not in packages and not _is_installed(top):
                found = top
    return found


def _is_installed(name: str) -> bool:
    """Not by `find_spec`: that would also find a person's own modules in the current folder."""
    if name in sys.stdlib_module_names:
        return True
    try:
        return PathFinder.find_spec(name, site.getsitepackages()) is not None
    except (ImportError, ValueError):
        return False
