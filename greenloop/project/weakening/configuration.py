"""Changes of what decides: how pytest collects and runs tests, coverage, greenloop's settings, hooks."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from greenloop.project.weakening.machines import is_about_machine
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
    ".pytest.toml",
    ".coveragerc",
)
# Of these only lines count that run a check: other tools of a project are its own business.
_HOOK_FILES = (
    ".pre-commit-config.yaml",
    ".claude/settings*.json",
    ".codex/*",
    ".cursor/hooks.json",
    ".aider.conf.yml",
    ".greenloop*",
    ".github/workflows/*",
    "Makefile",
    "noxfile.py",
)
_CHECKING = re.compile(r"greenloop|pytest|\btest-cmd|\bauto-test|disableAllHooks|codex_hooks")
_INSTALLING = re.compile(r"\b(install|requires?|dependencies|uses)\b|pytest *[=<>~]=")
_IDLE = re.compile(r"^#|\becho\b|--(version|help)\b")
_TEST_PATH = re.compile(r"[\w./-]*\btests?\b[\w./:-]*|[\w./-]+\.py\b")
_SILENCING = re.compile(
    r"\|\| *(true|:|exit 0)|continue-on-error: *true|disableAllHooks|ignore_(outcome|errors) *= *true"
)
_DASHED = re.compile(
    r"(commands\S* *= *)?- *(coverage (run|report)|pytest|py\.test|python -m (pytest|unittest)|tox)\b"
)  # not in YAML
_OWN_HOOK = re.compile(r"greenloop gate --agent \w+ \|\| exit 0\b")  # as `init` writes it
# Modules that Python or pytest imports by themselves, before any test.
_STARTUP_FILES = ("sitecustomize.py", "usercustomize.py")
# Options that take tests away, or their failures.
_TAKING = (
    *("-k", "-m", "--ignore", "--ignore-glob", "--deselect", "-p", "--lf", "--last-failed", "--co"),
    *("--collect-only", "--maxfail", "--exitfirst", "-x", "--runxfail", "--no-cov", "--noconftest"),
)
_ALONE = frozenset(
    "--lf --last-failed --co --collect-only --exitfirst -x --runxfail --no-cov --noconftest".split()
)
# Options by which more tests run, or more of them fail.
_ASKING = ("--doctest-", "--strict", "-W", "--pyargs", "--run")
# Hooks that can leave tests out, or change what they report.
_DECIDING_HOOK = re.compile(
    r"pytest_(runtest|pyfunc|exception|make|pycollect|collect|ignore|itemcollected|deselect"
    r"|report_(teststatus|to)|sessionfinish)"
)
_BROAD_FILTER = re.compile(r"(ignore|default|once|always)(::\w*)?$")
_COVERAGE = ("run", "report")
_LEAVING_OUT = ("omit", "exclude_lines", "exclude_also", "exclude")
# Lines that say nothing of what the code does.
_NEVER_RUN = re.compile(
    r"TYPE_CHECKING|overload|NotImplementedError|__main__|pragma|assert_never|abstract|Protocol|\.\.\."
)
_NO_CODE = re.compile(r"(\b|_)(typing|types|version|vendor|tests?|setup|conftest)(/\*+|\.py)?$")
_COLLECTING = ("testpaths", "python_files", "python_classes", "python_functions", "norecursedirs")
_IGNORING = ("collect_ignore", "collect_ignore_glob", "pytest_plugins")


def is_deciding_file(path: str) -> bool:
    """Return whether a file of a project decides which tests count, and what is asked of them."""
    name = path.rpartition("/")[2]
    named = (*_PYTEST_FILES, "conftest.py")
    return name in named or _is_run_first(path) or any(fnmatch(path, p) for p in _HOOK_FILES)


def _is_run_first(path: str) -> bool:
    """Return whether Python runs a file before all others: where it looks for modules first."""
    folder, _, name = path.rpartition("/")
    is_module = name in _STARTUP_FILES and folder in ("", "src", "lib", "tests", "test")
    return is_module or ("site-packages/" in path and name.endswith((".pth", *_STARTUP_FILES)))


def find_loosened_configuration(
    before: Mapping[str, str], after: Mapping[str, str], tests: Collection[str] = ()
) -> Iterator[str]:
    """Yield a sentence for each change of deciding files by which fewer tests count, or less is asked.

    Both map paths to texts; a file that one of them lacks is empty there. `tests` are the files of tests.
    """
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        if old == new or not is_deciding_file(path):
            continue
        if path.endswith("conftest.py"):
            yield from _compare_hooks(path, old, new)
        elif path.rpartition("/")[2] in _PYTEST_FILES:
            was, now = _read_beside(path, before), _read_beside(path, after)
            yield from _compare_settings(path, was, now, tests)
            yield from _find_silenced(path, old, new)
        elif _is_run_first(path):
            yield f"{path}: was changed; Python runs it before every test"
        else:
            yield from _compare_hook_lines(path, old, new)


def _compare_hook_lines(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a line that ran a check and is gone, or one that ignores how a check ends."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    added = [line for line in new if line not in old]
    lost = (i for i in old if i not in new and _CHECKING.search(i) and not _INSTALLING.search(i))
    if gone := next((i for i in lost if not any(_checks_as_much(i, j) for j in added)), ""):
        yield f"{path}: `{gone[:100]}` is gone or was changed; it decides what is checked"
    else:
        yield from _find_silenced(path, before, after)


def _checks_as_much(old: str, new: str) -> bool:
    """Return whether a line runs pytest as another one did, on all that it named."""
    is_pytest = {*_CHECKING.findall(old)} == {*_CHECKING.findall(new)} == {"pytest"}
    taken, more = (_list_taking(_split(re.sub(r"[\"',()\[\]]", " ", i))) for i in (old, new))
    before, now = ({i.strip("./") for i in _TEST_PATH.findall(line)} for line in (old, new))
    is_whole = not now or bool(before and before <= now) or (not before and "tests" in now)
    return is_pytest and {*more} <= {*taken} and is_whole and not _IDLE.search(new)


def _find_silenced(path: str, before: str, after: str) -> Iterator[str]:
    """Yield a new line by which nobody learns how a check ends."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (before, after))
    is_list = path.endswith((".yaml", ".yml"))
    added = (line for line in new if line not in old)
    found = (
        line
        for line in added
        if _SILENCING.search(_OWN_HOOK.sub("", line)) or (not is_list and _DASHED.match(line))
    )
    if quiet := next(found, ""):
        yield f"{path}: `{quiet[:100]}` is new; a check that fails may go unnoticed"


def _read(path: str, text: str) -> dict[str, dict[str, Any]]:
    """Return the tables that matter of a configuration file; nothing where it cannot be read."""
    try:
        if path.endswith(".toml"):
            tool = tomllib.loads(text).get("tool", {})
            pytest_table = tool.get("pytest", {})
            return {
                "pytest": pytest_table.get("ini_options", pytest_table),
                "coverage": _join_coverage(tool.get("coverage", {})),
                "greenloop": tool.get("greenloop", {}),
            }
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError):
        return {}
    found = {name: dict(parser[name]) for name in parser.sections()}
    coverage = {name: found.get(f"coverage:{name}", found.get(name, {})) for name in _COVERAGE}
    return {
        "pytest": found.get("pytest", found.get("tool:pytest", {})),
        "coverage": _join_coverage(coverage),
    }


def _read_beside(path: str, texts: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the tables of a configuration file, those that it lacks from another one beside it."""
    folder = path.rpartition("/")[0]
    found: dict[str, dict[str, Any]] = {}
    for other in (path, *(f"{folder}/{name}".strip("/") for name in _PYTEST_FILES)):
        more = _read(other, texts.get(other, ""))
        found |= {key: table for key, table in more.items() if not found.get(key)}
    return found


def _join_coverage(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for name in _COVERAGE for key, value in tables.get(name, {}).items()}


def _compare_settings(
    path: str,
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    tests: Collection[str],
) -> Iterator[str]:
    was, now = old.get("pytest", {}), new.get("pytest", {})
    for option in _list_taking(now.get("addopts", "")):
        if option not in _list_taking(was.get("addopts", "")):
            yield f"{path}: pytest's addopts have `{option}` now, which leaves tests out"
    for word in _list_words(was.get("addopts", "")):
        is_kept = word in _list_words(now.get("addopts", ""))
        if word.startswith(_ASKING) and not is_kept:
            yield f"{path}: pytest's addopts lost `{word}`, so fewer tests run, or less fails"
    floors = [_find_floor(table.get("addopts", "")) for table in (was, now)]
    if floors[1] < floors[0]:
        yield f"{path}: --cov-fail-under was {floors[0]:g}, and is {floors[1]:g} now"
    for key in _COLLECTING:
        if key in was and not _has_all(key, was[key], now.get(key)):
            yield f"{path}: {key} was `{was[key]}`, and is `{now.get(key, 'not set')}` now"
        elif key in now and key not in was and not _has_tests(key, now[key], tests):
            yield f"{path}: {key} is `{now[key]}` now, so other tests may be left out"
    if str(was.get("xfail_strict")).lower() == "true" != str(now.get("xfail_strict")).lower():
        yield f"{path}: xfail_strict is not set any more"
    if "error" in str(was.get("filterwarnings")) and "error" not in str(now.get("filterwarnings")):
        yield f"{path}: warnings are no longer errors"
    for line in _list_lines(now.get("filterwarnings")):
        is_new = line not in _list_lines(was.get("filterwarnings"))
        if is_new and _BROAD_FILTER.match(line) and "error" in str(was.get("filterwarnings")):
            yield f"{path}: filterwarnings have `{line}` now, so such a warning is not an error"
    measured, measures = old.get("coverage", {}), new.get("coverage", {})
    for key in _LEAVING_OUT:
        known = _list_lines(measured.get(key))
        more = [i for i in _list_lines(measures.get(key)) if i not in known]
        more = [i for i in more if not (_NO_CODE if key == "omit" else _NEVER_RUN).search(i)]
        if more and measured:
            yield f"{path}: coverage's {key} has `{more[0]}` now"
    bounds = (table.get("coverage", {}).get("fail_under", 0) for table in (old, new))
    lower, upper = (float(value or 0) for value in bounds)
    if upper < lower:
        yield f"{path}: coverage's fail_under was {lower:g}, and is {upper:g} now"
    if old.get("greenloop", {}) != new.get("greenloop", {}):
        yield f"{path}: [tool.greenloop] was changed; the values of the base commit count"


def _has_all(key: str, before: Any, now: Any) -> bool:
    """Return whether what is collected by a key is collected still."""
    old, new = (_split(" ".join(_list_lines(value))) for value in (before, now))
    return old == new or (key != "norecursedirs" and bool(old) and {*old} <= {*new})


def _has_tests(key: str, value: Any, tests: Collection[str]) -> bool:
    """Return whether all files of tests are below the paths that a project sets for the first time."""
    below = tuple(_split(" ".join(_list_lines(value))))
    return key == "testpaths" and bool(tests) and all(i.startswith(below) for i in tests)


def _list_lines(value: Any) -> list[str]:
    lines = value if isinstance(value, list) else str(value or "").replace(",", "\n").split("\n")
    return [text for item in lines if (text := str(item).strip())]


def _list_taking(addopts: Any) -> list[str]:
    """Return the options that leave tests out, each with its value."""
    words = _list_words(addopts)
    found = []
    for index, word in enumerate(words):
        name, _, value = str(word).partition("=")
        if name in _TAKING:
            has_value = not value and name not in _ALONE
            found.append(" ".join(map(str, words[index : index + 2])) if has_value else str(word))
    return found


def _list_words(addopts: Any) -> list[str]:
    return addopts if isinstance(addopts, list) else _split(str(addopts))


def _find_floor(addopts: Any) -> float:
    found = re.search(r"--cov-fail-under[= ',\"]+([\d.]+)", str(addopts))
    return float(found[1]) if found else 0.0


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
    nodes = list(_iter_statements(parse_or_empty(text).body))
    hooks = {n.name: ast.unparse(n) for n in nodes if isinstance(n, Function)}
    texts = (ast.unparse(n) for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign, ast.Expr)))
    kept = {
        text: text for text in texts if text.startswith(_IGNORING) and not text.endswith("= []")
    }
    return {name: text for name, text in hooks.items() if _DECIDING_HOOK.match(name)} | kept


def _iter_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a file, and those under a condition that is not one on the machine."""
    for node in body:
        if isinstance(node, ast.If) and not is_about_machine(node.test):
            yield from _iter_statements([*node.body, *node.orelse])
        else:
            yield node
