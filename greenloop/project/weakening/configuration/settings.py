"""Detection of loosened settings of pytest, coverage and greenloop."""

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from greenloop.settings import list_settings
from greenloop.toml import find_table, read_ini, read_table

PYTEST_FILES = (
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pytest.toml",
    ".pytest.toml",
    ".coveragerc",
)
# Options that leave out tests, or hide failures.
_TAKING = (
    *("-k", "-m", "--ignore", "--ignore-glob", "--deselect", "-p", "--lf", "--last-failed", "--co"),
    *("--collect-only", "--maxfail", "--exitfirst", "-x", "--runxfail", "--no-cov", "--noconftest"),
)
_SHORT = frozenset({"-k", "-m", "-p"})  # which may have their value attached
# Those that leave no test out of a run that passes.
_IDLE = re.compile(r"-x|--(exitfirst|maxfail|runxfail|no-cov|noconftest)|-p ?no:")
_ALONE = frozenset(
    "--lf --last-failed --co --collect-only --exitfirst -x --runxfail --no-cov --noconftest".split()
)
# Options by which more tests run, or more of them fail.
_ASKING = ("--doctest-", "--strict", "-W", "--pyargs", "--run")
_BROAD_FILTER = re.compile(r"(ignore|default|once|always)(::\w*)?$")
_COVERAGE = ("run", "report")
_LEAVING_OUT = ("omit", "exclude_lines", "exclude_also", "exclude")
# Lines without behaviour, which coverage may exclude.
_NEVER_RUN = re.compile(
    r"TYPE_CHECKING|overload|NotImplementedError|__main__|pragma|assert_never|abstract|Protocol|\.\.\."
)
_NO_CODE = re.compile(r"(\b|_)(typing|types|version|vendor|tests?|setup|conftest)(/\*+|\.py)?$")
_COLLECTING = ("testpaths", "python_files", "python_classes", "python_functions", "norecursedirs")


def read_beside(path: str, texts: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the tables of a configuration file; missing ones come from other files beside it."""
    folder = path.rpartition("/")[0]
    found: dict[str, dict[str, Any]] = {}
    for other in (path, *(f"{folder}/{name}".strip("/") for name in PYTEST_FILES)):
        more = _read(other, texts.get(other, ""))
        found |= {key: table for key, table in more.items() if not found.get(key)}
    return found


def _read(path: str, text: str) -> dict[str, dict[str, Any]]:
    """Return the relevant tables of a configuration file, none if it cannot be read."""
    if path.endswith(".toml"):
        tool = read_table(text, "tool")
        own = find_table(tool, "pytest", "ini_options") or find_table(tool, "pytest")
        return {
            "pytest": own or read_table(text, "pytest"),  # the latter in pytest.toml
            "coverage": _join_coverage(find_table(tool, "coverage")),
            "greenloop": find_table(tool, "greenloop"),
        }
    found = read_ini(text)
    coverage = {name: found.get(f"coverage:{name}", found.get(name, {})) for name in _COVERAGE}
    return {
        "pytest": found.get("pytest", found.get("tool:pytest", {})),
        "coverage": _join_coverage(coverage),
    }


def _join_coverage(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for name in _COVERAGE for key, value in find_table(tables, name).items()}


def compare_settings(
    path: str,
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    tests: Collection[str],
) -> Iterator[str]:
    """Yield a sentence for each setting by which fewer tests count, or tests demand less."""
    was, now = old.get("pytest", {}), new.get("pytest", {})
    for option in list_taking(now.get("addopts", "")):
        if option not in list_taking(was.get("addopts", "")):
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
    for key in ("xfail_strict", "strict_xfail", "strict"):
        if str(was.get(key)).lower() == "true" != str(now.get(key)).lower():
            yield f"{path}: {key} is no longer set"
    if "error" in str(was.get("filterwarnings")) and "error" not in str(now.get("filterwarnings")):
        yield f"{path}: warnings are no longer errors"
    for line in _list_lines(now.get("filterwarnings")):
        is_new = line not in _list_lines(was.get("filterwarnings"))
        if is_new and _BROAD_FILTER.match(line) and "error" in str(was.get("filterwarnings")):
            yield f"{path}: filterwarnings have `{line}` now, so such a warning is no longer an error"
    measured, measures = old.get("coverage", {}), new.get("coverage", {})
    for key in _LEAVING_OUT:
        known = _list_lines(measured.get(key))
        more = [i for i in _list_lines(measures.get(key)) if i not in known]
        more = [i for i in more if not (_NO_CODE if key == "omit" else _NEVER_RUN).search(i)]
        if more and measured:
            yield f"{path}: coverage's {key} has `{more[0]}` now"
    bounds = (table.get("coverage", {}).get("fail_under", 0) for table in (old, new))
    lower, upper = map(_read_number, bounds)
    if upper < lower:
        yield f"{path}: coverage's fail_under was {lower:g}, and is {upper:g} now"
    if _add_defaults(old.get("greenloop", {})) != _add_defaults(new.get("greenloop", {})):
        yield f"{path}: [tool.greenloop] was changed; the values of the base commit count"


def _add_defaults(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return greenloop's settings with the defaults of those that a file leaves out."""
    return {item.key: item.default for item in list_settings()} | dict(table)


def _has_all(key: str, before: Any, now: Any) -> bool:
    """Return whether a collection setting still collects at least the same tests."""
    old, new = (split_words(" ".join(_list_lines(value))) for value in (before, now))
    return old == new or (key != "norecursedirs" and bool(old) and {*old} <= {*new})


def _has_tests(key: str, value: Any, tests: Collection[str]) -> bool:
    """Return whether all test files are below `testpaths` that are set for the first time."""
    globs = _list_below(value)
    is_below = (any(fnmatchcase(f"{test}/", glob) for glob in globs) for test in tests)
    return key == "testpaths" and bool(tests) and all(is_below)


def _list_below(value: Any) -> list[str]:
    """Return patterns for all paths below the folders of `testpaths`, each with a slash behind."""
    folders = [posixpath.normpath(item) for item in split_words(" ".join(_list_lines(value)))]
    return ["*" if item == "." else f"{item}/*" for item in folders]


def _list_lines(value: Any) -> list[str]:
    lines = value if isinstance(value, list) else str(value or "").replace(",", "\n").split("\n")
    return [text for item in lines if (text := str(item).strip())]


def list_taking(addopts: Any) -> list[str]:
    """Return the options that leave out tests, each with its value."""
    words = _list_words(addopts)
    found = []
    for index, word in enumerate(words):
        name, _, value = word.partition("=")
        if word[:2] in _SHORT:
            name, value = word[:2], word[2:]
        if name in _TAKING:
            has_value = not value and name not in _ALONE
            found.append(" ".join(words[index : index + 2]) if has_value else word)
    return found


def selects_tests(files: Mapping[str, bytes]) -> bool:
    """Return whether a project's pytest options may leave tests out of a run that passes."""
    paths = [path for path in files if posixpath.basename(path) in PYTEST_FILES]
    tables = [_read(i, files[i].decode("utf-8", "replace")).get("pytest", {}) for i in paths]
    taking = (option for table in tables for option in list_taking(table.get("addopts", "")))
    is_selecting = any(not _IDLE.match(option) for option in taking)
    return is_selecting or any("python_functions" in table for table in tables)


def _list_words(addopts: Any) -> list[str]:
    is_list = isinstance(addopts, list)
    return [str(item) for item in addopts] if is_list else split_words(str(addopts))


def _find_floor(addopts: Any) -> float:
    found = re.search(r"--cov-fail-under[= ',\"]+([\d.]+)", str(addopts))
    return _read_number(found[1]) if found else 0.0


def _read_number(value: Any) -> float:
    """Return a percentage; 0 for what is none, with which coverage does not fail."""
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0.0


def read_file_patterns(texts: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return pytest's `python_files` and `testpaths` of a project, as patterns of paths."""
    table = read_beside("pyproject.toml", texts).get("pytest", {})
    names = split_words(" ".join(_list_lines(table.get("python_files"))))
    return names or ["test_*.py", "*_test.py"], _list_below(table.get("testpaths"))


def split_words(text: str) -> list[str]:
    """Return the words of a command line, split at spaces if its quotes do not match."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
