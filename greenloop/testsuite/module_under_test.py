"""The module that a test file tests."""

from __future__ import annotations

import site
import sys
from collections.abc import Collection
from importlib.machinery import PathFinder

from greenloop.dependencies.names import iter_imported_modules
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
    imported = iter_imported_modules(tree) if tree else ()
    return [name for name in imported if name not in packages and not _is_installed(name)]


def _is_installed(name: str) -> bool:
    """Look in site-packages only: `find_spec` would find the user's modules in the working folder."""
    if name in sys.stdlib_module_names:
        return True
    try:
        return PathFinder.find_spec(name, site.getsitepackages()) is not None
    except (ImportError, ValueError):
        return False
