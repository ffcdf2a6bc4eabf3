"""Undefined names and behaviour-preserving fixes, both by ruff; formatting by black."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from greenloop.syntax.edit import LINE_END
from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import parse_or_none

# Unused and unsorted imports, f-strings without a field, outdated syntax, `not x in y`. Comparisons
# to None or True, unused variables and mutable defaults are excluded: fixing them can change
# behaviour.
_SAFE_RULES = "F401,I001,F541,UP,E713"
LINT_RULES = f"F821,{_SAFE_RULES}"
TARGET_VERSION = "py310"
_TIMEOUT_SECONDS = 20
# A thread that imports black, which is compiled, while another does gets a module without names.
_FORMATTING = threading.Lock()


@dataclass(frozen=True)
class LintResult:
    """Names that nothing defines (ruff F821), in order of appearance; codes that ruff can fix."""

    undefined: tuple[str, ...] = ()
    fixable: tuple[str, ...] = ()


class RuffEdit(NamedTuple):
    """The replacement of a range by a text; lines and columns are counted from 0."""

    text: str
    first: tuple[int, int]
    last: tuple[int, int]


class RuffFinding(NamedTuple):
    """A finding, with the edits that fix it; () where ruff has no fix."""

    code: str
    message: str
    edits: tuple[RuffEdit, ...]


Linter = Callable[[str], LintResult]


def lint_code(code: str) -> LintResult:
    """Return what one ruff process reports; nothing where ruff cannot be run."""
    found = _run_ruff(code, "--select", LINT_RULES, "--output-format", "json")
    return summarize_findings([_read_finding(item) for item in parse_items(found)], code)


def _read_finding(item: Mapping[str, Any]) -> RuffFinding:
    edits = (item.get("fix") or {}).get("edits", ())
    return RuffFinding(item["code"], item["message"], tuple(_read_edit(edit) for edit in edits))


def _read_edit(edit: Mapping[str, Any]) -> RuffEdit:
    first, last = edit["location"], edit["end_location"]
    return RuffEdit(edit["content"], _read_location(first), _read_location(last))


def _read_location(location: Mapping[str, Any]) -> tuple[int, int]:
    return location["row"] - 1, location["column"] - 1


def summarize_findings(findings: Iterable[RuffFinding], code: str) -> LintResult:
    """Return what findings, in order of appearance, say of a source."""
    undefined, fixable = [], set()
    for item in findings:
        if item.code == "F821":
            undefined += re.findall(r"`([^`]+)`", item.message)[:1]
        elif item.edits and not _is_spacing_only(item, code):
            fixable.add(item.code)
    return LintResult(tuple(dict.fromkeys(undefined)), tuple(sorted(fixable)))


def _is_spacing_only(item: RuffFinding, code: str) -> bool:
    """Return whether a fix of imports only changes blank lines, which formatting does anyway."""
    if item.code != "I001" or len(item.edits) != 1:
        return False
    (edit,) = item.edits
    old = "\n".join(LINE_END.split(code)[edit.first[0] : edit.last[0]])
    try:
        is_same = _dump_tree(old) == _dump_tree(edit.text)
    except (SyntaxError, ValueError):
        return False
    return is_same and edit.first[1] == edit.last[1] == 0


def apply_ruff_fixes(code: str, kept_names: Collection[str]) -> str:
    """Return the code with ruff's safe fixes; unchanged where one would remove a kept name."""
    fixed = _run_ruff(code, "--select", _SAFE_RULES, "--fix", "--quiet")
    if not fixed or not _defines(fixed, {name for name in kept_names if _defines(code, {name})}):
        return code
    return code if _dump_tree(fixed) == _dump_tree(code) else fixed


def _dump_tree(code: str) -> str:
    return ast.dump(ast.parse(code))


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
    options = ("--isolated", "--no-cache", "--target-version", TARGET_VERSION, *options, "-")
    ended = run_ruff("check", *options, text=code, timeout_s=_TIMEOUT_SECONDS)
    return ended.stdout if ended and ended.returncode in (0, 1) else ""


def run_ruff(
    action: str, *arguments: str, timeout_s: float, text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run ruff on a text or in a folder; None where it cannot be run or takes too long."""
    try:
        command = [find_ruff(), action, *arguments]
    except (ImportError, OSError):
        return None
    return run_tool(command, timeout_s, text=text, folder=folder)


def run_tool(
    command: Sequence[str],
    timeout_s: float,
    *,
    text: str = "",
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str] | None:
    """Run a tool on a text or in a folder; None where it cannot be run or takes too long."""
    try:
        return subprocess.run(
            command,
            input=text,
            cwd=folder,
            env=env,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout_s,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return None


@lru_cache(maxsize=1)
def find_ruff() -> str:
    """Return the path of ruff's binary. Raises ImportError or OSError where it is not installed."""
    from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

    return str(find_ruff_bin())


def format_code(code: str) -> str:
    """Return the code formatted by black; unchanged where black cannot parse it."""
    with _FORMATTING:
        import black

        try:
            return black.format_str(code, mode=black.Mode())
        except (ValueError, AssertionError, RecursionError, MemoryError):
            return code
