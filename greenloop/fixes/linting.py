"""ruff: finding undefined names, and fixes that keep a program's meaning."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Collection

# Unused and unsorted imports, f-strings without a field, outdated syntax, `not x in y`. Left out on
# purpose: comparisons to None or True, unused variables, mutable defaults: mending them can change
# what a program does.
_SAFE = "F401,I001,F541,UP,E713"
_TIMEOUT_S = 20


def has_nothing_to_mend(code: str) -> bool:
    """Whether ruff has nothing to say of all that is asked below: one process in place of three."""
    found = _ruff(code, "--select", f"F821,{_SAFE}", "--output-format", "json")
    return found is not None and found.strip() == "[]"


def undefined_names(code: str) -> list[str]:
    """Names that nothing defines (ruff F821), in order of appearance."""
    found = _ruff(code, "--select", "F821", "--output-format", "json")
    if found is None:
        return []
    names = [re.search(r"`([^`]+)`", item["message"]) for item in _items(found)]
    return list(dict.fromkeys(item[1] for item in names if item))


def fixed_by_ruff(code: str, keep: Collection[str]) -> tuple[str, list[str]]:
    """The code with ruff's safe fixes, and their codes. Nothing is changed where a name of `keep` goes."""
    found = _ruff(code, "--select", _SAFE, "--output-format", "json")
    codes = sorted({item["code"] for item in _items(found) if item.get("fix")}) if found else []
    if not codes:
        return code, []
    fixed = _ruff(code, "--select", _SAFE, "--fix", "--quiet")
    if not fixed or not _defines(fixed, {name for name in keep if _defines(code, {name})}):
        return code, []
    if _shape(fixed) == _shape(code):
        return code, []
    return fixed, codes


def _shape(code: str) -> str:
    return ast.dump(ast.parse(code))


def _items(found: str) -> list[dict[str, str]]:
    try:
        items: list[dict[str, str]] = json.loads(found)
    except ValueError:
        return []
    return items


def _defines(code: str, names: set[str]) -> bool:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return False
    bound = {
        item.asname or item.name
        for n in ast.walk(tree)
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for item in n.names
    }
    bound |= {
        n.name
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    bound |= {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return names <= bound


def _ruff(code: str, *options: str) -> str | None:
    """ruff's standard output on one source; None where it cannot be run."""
    try:
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        binary = str(find_ruff_bin())
    except (ImportError, OSError):
        return None
    command = [
        binary,
        "check",
        "--isolated",
        "--target-version",
        "py310",
        *options,
        "-",
    ]
    try:
        ended = subprocess.run(
            command, input=code, capture_output=True, encoding="utf-8", timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return None
    return ended.stdout if ended.returncode in (0, 1) else None
