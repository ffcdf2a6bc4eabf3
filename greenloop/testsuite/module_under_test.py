"""The module that a test file tests."""

from __future__ import annotations

import ast
import site
import sys
from collections.abc import Collection
from importlib.machinery import PathFinder

from greenloop.syntax.parse import parse_or_none

DEFAULT_MODULE = "solution"


def find_tested_module(test_code: str, packages: Collection[str]) -> str:
    """Return the module that a test file tests; `solution` where it imports installed ones only."""
    return find_imported_module(test_code, packages) or DEFAULT_MODULE


def find_imported_module(test_code: str, packages: Collection[str] = ()) -> str | None:
    """Return the last imported module that is not installed: by convention local imports are last.

    `packages` are importable in runs, though not installed here.
    """
    return next(reversed(list_imported_modules(test_code, packages)), None)


def list_imported_modules(code: str, packages: Collection[str] = ()) -> list[str]:
    """Return the top-level names of imported modules that are not installed, in tree order."""
    tree = parse_or_none(code)
    found: list[str] = []
    for node in ast.walk(tree) if tree else ():
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        tops = [name.partition(".")[0] for name in names]
        found += [name for name in tops if name not in packages and not _is_installed(name)]
    return found


def _is_installed(name: str) -> bool:
    """Look in site-packages only: `find_spec` would find the user's modules in the working folder."""
    if name in sys.stdlib_module_names:
        return True
    try:
        return PathFinder.find_spec(name, site.getsitepackages()) is not None
    except (ImportError, ValueError):
        return False
