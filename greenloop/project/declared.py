"""Requirements that a project declares for itself and its tests, read without running code."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from greenloop.dependencies.poetry import iter_requirements
from greenloop.files import read_or_empty
from greenloop.toml import find_table, read_ini, read_table

_TEST_GROUP = re.compile(r"(?i)(unit|run)?[-_]?(tests?|testing|pytest)([-_]\w+)?")
_OTHER_GROUP = re.compile(r"(?i)dev(el(op(ment)?)?)?|all|ci")  # used if no group is for tests
_FILES = re.compile(r"(?i)([\w-]*[-_])?requirements?([-_][\w-]*)?\.(txt|in)")
_REQUIREMENTS = re.compile(r"(?i)[-_]?requirements?[-_]?")
_FOLDERS = ("", "requirements", "tests", "test", "testing")
_OWN_EXTRAS = re.compile(r"\.\[([^\]]+)\]")  # of `-e .[cli,http2]`
_WORD = re.compile(r"[\w.-]+")
_INCLUDE = re.compile(r"(?:-r|--requirement)[ =]*(\S+)")


def list_requirements(root: Path) -> tuple[str, ...]:
    """Return the sorted requirements of a project and its tests whose markers apply here.

    They are read from `pyproject.toml`, `setup.cfg`, `setup.py`, `tox.ini` and requirements files.
    Of the optional groups those for tests count, or else those for development. Requirements with
    a path or URL are left out.
    """
    found: dict[str, set[str]] = {}
    values = read_table(read_or_empty(root / "pyproject.toml"))
    own = canonicalize_name(str(find_table(values, "project").get("name", "")))
    for line in _iter_lines(root, values):
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            continue
        name = canonicalize_name(wanted.name)
        if wanted.url or name == own or (wanted.marker and not wanted.marker.evaluate()):
            continue
        extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
        found.setdefault(name, set()).add(f"{name}{extras}{wanted.specifier}")
    return tuple(sorted(item for items in found.values() for item in items))


def _iter_lines(root: Path, values: Mapping[str, Any]) -> Iterator[str]:
    always = [root / "requirements.txt", root / "requirements.in"]
    lines = [
        *_iter_files([*always, *list_test_files(root)], root),
        *read_ini(read_or_empty(root / "tox.ini")).get("testenv", {}).get("deps", "").splitlines(),
    ]
    extras = {
        name
        for line in lines
        for found in _OWN_EXTRAS.findall(line)
        for name in _WORD.findall(found)
    }
    yield from lines
    yield from _iter_pyproject(values, extras)
    yield from _iter_setup_cfg(root / "setup.cfg")
    yield from _iter_setup_py(root / "setup.py")


def list_test_files(root: Path) -> list[Path]:
    """Return the requirements files for tests, or else those for development."""
    files = [path for name in _FOLDERS for path in sorted((root / name).glob("*"))]
    kept = [path.relative_to(root) for path in files if _is_requirements(path)]
    by_name = {"-".join(path.with_suffix("").parts): root / path for path in kept}
    return [by_name[name] for name in choose_groups(by_name)]


def _is_requirements(path: Path) -> bool:
    return bool(_FILES.fullmatch(path.name)) or (
        path.parent.name == "requirements" and path.suffix == ".txt"
    )


def _iter_pyproject(values: Mapping[str, Any], extras: Collection[str]) -> Iterator[str]:
    project, groups = find_table(values, "project"), find_table(values, "dependency-groups")
    yield from _texts(project.get("dependencies"))
    optional = find_table(project, "optional-dependencies")
    yield from _iter_chosen(optional)
    yield from (line for name in extras for line in _texts(optional.get(name)))
    yield from _iter_chosen({name: _resolve_group(groups, name, ()) for name in groups})
    poetry = find_table(values, "tool", "poetry")
    own_groups = {
        name: list(iter_requirements(find_table(group, "dependencies")))
        for name, group in find_table(poetry, "group").items()
    }
    older = list(iter_requirements(find_table(poetry, "dev-dependencies")))
    yield from iter_requirements(find_table(poetry, "dependencies"))
    yield from _iter_chosen({"dev": older, **own_groups})


def _resolve_group(groups: Mapping[str, Any], name: str, seen: tuple[str, ...]) -> list[str]:
    """Return the requirements of a dependency group and of the groups it includes (PEP 735)."""
    found: list[str] = []
    items = groups.get(name) if name not in seen else None
    for item in items if isinstance(items, list) else ():
        other = item.get("include-group") if isinstance(item, dict) else None
        found += _resolve_group(groups, str(other), (*seen, name)) if other else _texts([item])
    return found


def choose_groups(names: Iterable[str]) -> list[str]:
    """Return the names of the groups for tests, or else of those for development."""
    plain = {name: _REQUIREMENTS.sub("-", name).strip("-") for name in names}
    tests = [name for name in plain if _TEST_GROUP.fullmatch(plain[name])]
    return tests or [name for name in plain if _OTHER_GROUP.fullmatch(plain[name])]


def _iter_chosen(groups: Mapping[str, Iterable[str]]) -> Iterator[str]:
    return (text for name in choose_groups(groups) for text in _texts(groups[name]))


def _iter_setup_cfg(path: Path) -> Iterator[str]:
    tables = read_ini(read_or_empty(path))
    options, extras = tables.get("options", {}), tables.get("options.extras_require", {})
    yield from _iter_chosen({name: text.splitlines() for name, text in extras.items()})
    for name in ("install_requires", "tests_require"):
        yield from options.get(name, "").splitlines()


def _iter_setup_py(path: Path) -> Iterator[str]:
    """Yield the requirements that `setup.py` has as literals."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    assigned = dict(_iter_values(tree))
    for name, node in _iter_values(tree):
        named = assigned.get(node.id, node) if isinstance(node, ast.Name) else node
        try:
            value = ast.literal_eval(named)
        except (ValueError, TypeError):
            continue
        if name in ("install_requires", "tests_require"):
            yield from _texts(value)
        elif name == "extras_require" and isinstance(value, dict):
            yield from _iter_chosen(value)


def _iter_values(tree: ast.Module) -> Iterator[tuple[str | None, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            yield node.arg, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _iter_files(paths: list[Path], root: Path) -> Iterator[str]:
    """Yield the lines of requirements files and of the files that they include."""
    seen: set[Path] = set()
    while paths:
        path = paths.pop().resolve()
        if path in seen or not path.is_relative_to(root.resolve()):
            continue
        seen.add(path)
        for line in read_or_empty(path).replace("\\\n", " ").splitlines():
            plain = re.sub(r"(^|\s)#.*|\s--hash=\S+", "", line).strip()
            if included := _INCLUDE.match(plain):
                paths.append(path.parent / included[1])
            yield plain


def _texts(values: Any) -> list[str]:
    items = values if isinstance(values, (list, tuple)) else [values]
    return [item for item in items if isinstance(item, str)]
