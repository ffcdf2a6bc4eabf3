"""Changes of what decides: how pytest collects and runs tests, coverage, greenloop's settings, hooks."""

from __future__ import annotations

import ast
import configparser
import shlex
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_PYTEST_FILES = (
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pytest.toml",
)
_HOOK_FILES = (
    ".pre-commit-config.yaml",
    ".claude/settings*.json",
    ".codex/*",
    ".cursor/hooks.json",
    ".aider.conf.yml",
    ".greenloop*",
    ".coveragerc",
)
# Options that take tests away, or their failures.
_TAKING = ("-k", "-m", "--ignore", "--ignore-glob", "--deselect", "-p", "--lf", "--co", "--maxfail")
_COLLECTING = ("testpaths", "python_files", "python_classes", "python_functions", "norecursedirs")
_IGNORING = ("collect_ignore", "collect_ignore_glob", "pytestmark")


def is_deciding_file(path: str) -> bool:
    """Return whether a file of a project decides which tests count, and what is asked of them."""
    name = path.rpartition("/")[2]
    return name in (*_PYTEST_FILES, "conftest.py") or any(fnmatch(path, p) for p in _HOOK_FILES)


def find_loosened_configuration(
    before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each change of deciding files by which fewer tests count, or less is asked.

    Both map paths to texts; a file that one of them lacks is empty there.
    """
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        if old == new or not is_deciding_file(path):
            continue
        if path.endswith("conftest.py"):
            yield from _compare_hooks(path, old, new)
        elif path.rpartition("/")[2] in _PYTEST_FILES:
            yield from _compare_settings(path, _read(path, old), _read(path, new))
        else:
            yield f"{path}: was changed; it decides what is checked"


def _read(path: str, text: str) -> dict[str, dict[str, Any]]:
    """Return the tables that matter of a configuration file; nothing where it cannot be read."""
    try:
        if path.endswith(".toml"):
            tool = tomllib.loads(text).get("tool", {})
            pytest_table = tool.get("pytest", {})
            return {
                "pytest": pytest_table.get("ini_options", pytest_table),
                "coverage": tool.get("coverage", {}).get("report", {}),
                "greenloop": tool.get("greenloop", {}),
            }
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError):
        return {}
    names = {"pytest": ("pytest", "tool:pytest"), "coverage": ("coverage:report", "report")}
    return {
        table: next((dict(parser[name]) for name in sections if name in parser), {})
        for table, sections in names.items()
    }


def _compare_settings(
    path: str, old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    was, now = old.get("pytest", {}), new.get("pytest", {})
    for option in _list_taking(now.get("addopts", "")):
        if option not in _list_taking(was.get("addopts", "")):
            yield f"{path}: pytest's addopts have `{option}` now, which leaves tests out"
    for key in _COLLECTING:
        if key in was and was[key] != now.get(key):
            yield f"{path}: {key} was `{was[key]}`, and is `{now.get(key, 'not set')}` now"
        elif key in now and key not in was:
            yield f"{path}: {key} is `{now[key]}` now, so other tests may be left out"
    if str(was.get("xfail_strict")).lower() == "true" != str(now.get("xfail_strict")).lower():
        yield f"{path}: xfail_strict is not set any more"
    if "error" in str(was.get("filterwarnings")) and "error" not in str(now.get("filterwarnings")):
        yield f"{path}: warnings are no longer errors"
    bounds = (table.get("coverage", {}).get("fail_under", 0) for table in (old, new))
    lower, upper = (float(value or 0) for value in bounds)
    if upper < lower:
        yield f"{path}: coverage's fail_under was {lower:g}, and is {upper:g} now"
    if old.get("greenloop", {}) != new.get("greenloop", {}):
        yield f"{path}: [tool.greenloop] was changed; the values of the base commit count"


def _list_taking(addopts: Any) -> list[str]:
    """Return the options that leave tests out, each with its value."""
    words = addopts if isinstance(addopts, list) else _split(str(addopts))
    found = []
    for index, word in enumerate(words):
        name, _, value = str(word).partition("=")
        if name in _TAKING:
            has_value = not value and name not in ("--lf", "--co")
            found.append(" ".join(map(str, words[index : index + 2])) if has_value else str(word))
    return found


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _compare_hooks(path: str, before: str, after: str) -> Iterator[str]:
    """Yield the hooks and lists of ignored files of a conftest that are new or were changed."""
    old, new = (_list_hooks(text) for text in (before, after))
    for name, text in new.items():
        if old.get(name) != text:
            word = "was changed" if name in old else "is new"
            yield f"{path}: {name} {word}; it can change which tests run, and what they report"


def _list_hooks(text: str) -> dict[str, str]:
    nodes = parse_or_empty(text).body
    hooks = {n.name: ast.unparse(n) for n in nodes if isinstance(n, Function)}
    assigned = (n for n in nodes if isinstance(n, ast.Assign))
    names = {ast.unparse(n.targets[0]): ast.unparse(n.value) for n in assigned}
    kept = {name: value for name, value in names.items() if name in _IGNORING}
    return {name: value for name, value in hooks.items() if name.startswith("pytest_")} | kept
