"""Undefined names and behaviour-preserving fixes, both by ruff; formatting by black."""

import ast
import json
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import black
from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.syntax.source import LINE_END

# Unused and unsorted imports, f-strings without a field, outdated syntax, `not x in y`. Comparisons
# to None or True, unused variables and mutable defaults are excluded: fixing them can change
# behaviour.
_SAFE_RULES = "F401,I001,F541,UP,E713"
_NAME = re.compile(r"(?m)^[^`\n]*`([^`\n]+)`")  # the first one of a message
_TIMEOUT_SECONDS = 20


def find_undefined_names(code: str) -> list[str]:
    """Return the names that nothing defines, in order of appearance; [] where ruff cannot be run."""
    # Errors of newer syntax are reported whatever is selected.
    messages = (item["message"] for item in _lint(code, "F821") if item["code"] == "F821")
    return list(dict.fromkeys(_NAME.findall("\n".join(messages))))


def find_fixable_rules(code: str) -> list[str]:
    """Return the safe rules whose violations ruff can fix; [] where it cannot be run."""
    found = (item for item in _lint(code, _SAFE_RULES) if item["fix"])
    return sorted({item["code"] for item in found if not _is_spacing_only(item, code)})


def _is_spacing_only(item: Mapping[str, Any], code: str) -> bool:
    """Return whether a fix of imports only changes blank lines, which formatting does anyway."""
    edits = item["fix"]["edits"]
    first, last = edits[0]["location"], edits[0]["end_location"]
    if item["code"] != "I001" or len(edits) != 1 or first["column"] != 1 or last["column"] != 1:
        return False
    old = parse_or_none("\n".join(LINE_END.split(code)[first["row"] - 1 : last["row"] - 1]))
    return old is not None and ast.dump(old) == ast.dump(parse_or_empty(edits[0]["content"]))


def _lint(code: str, rules: str) -> list[dict[str, Any]]:
    return parse_items(_run_ruff(code, "--select", rules, "--output-format", "json"))


def apply_ruff_fixes(code: str, kept_names: Collection[str]) -> str:
    """Return the code with ruff's safe fixes; unchanged where one would remove a kept name."""
    fixed = _run_ruff(code, "--select", _SAFE_RULES, "--fix", "--quiet")
    if not fixed or not _defines(fixed, {name for name in kept_names if _defines(code, {name})}):
        return code
    trees = [ast.dump(parse_or_empty(item)) for item in (fixed, code)]
    return code if trees[0] == trees[1] else fixed


def parse_items(output: str) -> list[dict[str, Any]]:
    """Return the findings that ruff gives as JSON; [] where it gives none."""
    try:
        items: list[dict[str, Any]] = json.loads(output)
    except ValueError:
        return []
    return items


def _defines(code: str, names: set[str]) -> bool:
    tree = parse_or_none(code)
    nodes = (n for n in ast.walk(tree) if not isinstance(n, ast.arg)) if tree else ()
    return tree is not None and names <= bound_names(nodes)


def _run_ruff(code: str, *options: str) -> str:
    """Return ruff's standard output for one source; '' where it cannot be run."""
    options = ("--isolated", "--no-cache", "--target-version", "py310", *options, "-")
    ended = run_ruff("check", *options, text=code, timeout_s=_TIMEOUT_SECONDS)
    return ended.stdout if ended and ended.returncode in (0, 1) else ""


def run_ruff(
    action: str, *arguments: str, timeout_s: float, text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run ruff on a text or in a folder; None where it cannot be run or takes too long."""
    try:
        command = [str(find_ruff_bin()), action, *arguments]
    except OSError:  # the package is installed without its program
        return None
    return run_tool(command, timeout_s, text=text, folder=folder)


def run_tool(
    command: Sequence[str],
    timeout_s: float,
    *,
    text: str = "",
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str] | None:
    """Run a tool on a text or in a folder; None where it cannot be run or takes too long."""
    try:
        return subprocess.run(
            command,
            input=text,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout_s,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return None


def format_code(code: str) -> str:
    """Return the code formatted by black; unchanged where black cannot parse it."""
    try:
        return black.format_str(code, mode=black.Mode())
    except (ValueError, AssertionError, RecursionError, MemoryError):
        return code
