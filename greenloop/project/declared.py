"""What a project declares: packages that it and its tests need, and its entry points. Nothing is run."""

import ast
import configparser
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_VERSION_FILE = re.compile(
    r"""(?m)^[\w.-]*(?:version[-_]file|write_to)\s*=\s*["']([^"'\n]+\.py)["']"""
)
_NAME = re.compile(r"""(?m)^name\s*=\s*["']?([\w.-]+)""")
_STATIC_VERSION = re.compile(r"""(?m)^version\s*=\s*["']?(\d[\w.+!-]*)""")
_VERSION = b'__version__ = version = "0.0.0"\n__version_tuple__ = version_tuple = (0, 0, 0)\n'
_TEST_GROUP = re.compile(r"(?i)(unit|run)?[-_]?(tests?|testing|pytest)([-_]\w+)?")
_OTHER_GROUP = re.compile(r"(?i)dev(el(op(ment)?)?)?|all|ci")  # where none is for tests
_FILES = re.compile(r"(?i)([\w-]*[-_])?requirements?([-_][\w-]*)?\.(txt|in)")
_FOLDERS = ("", "requirements", "tests", "test", "testing")
_OWN_EXTRAS = re.compile(r"\.\[([^\]]+)\]")  # of `-e .[cli,http2]`
_WORD = re.compile(r"[\w.-]+")
_INCLUDE = re.compile(r"(?:-r|--requirement)[ =]*(\S+)")

Groups = Mapping[str, Iterable[str]]


def list_requirements(root: Path) -> tuple[str, ...]:
    """Return the requirements of a project and its tests, sorted; those that apply here.

    They are read from `pyproject.toml`, `setup.cfg`, `setup.py`, `tox.ini` and files of
    requirements. Of optional groups those for tests count, or where there are none those for
    development. What names a path or an address is left out.
    """
    found: dict[str, set[str]] = {}
    own = canonicalize_name(str(_table(_read_toml(root), "project").get("name", "")))
    for line in _iter_lines(root):
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


def generate_files(read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """Return files that a build or an installation adds: the module of the version, and metadata.

    `read` returns the content of a file of the project by its path, None where there is none.
    """
    text, added = _decode(read("pyproject.toml")), {}
    found = _VERSION_FILE.search(text)
    path = str(PurePosixPath(found[1])) if found else ""
    if (
        path
        and read(path) is None
        and read(f"{PurePosixPath(path).parent}/__init__.py") is not None
    ):
        added[path] = _VERSION
    name = _NAME.search(text) or _NAME.search(_decode(read("setup.cfg")))
    if name:
        version = _STATIC_VERSION.search(name.string)
        number = version[1] if version else "0"
        folder = f"{re.sub('[-_.]+', '_', name[1])}-{number}.dist-info"
        lines = f"Metadata-Version: 2.1\nName: {name[1]}\nVersion: {number}\n"
        added[f"{folder}/METADATA"] = lines.encode()
        added[f"{folder}/entry_points.txt"] = _format_entry_points(_parse_toml(text)).encode()
    return added


def _format_entry_points(values: Mapping[str, Any]) -> str:
    project = _table(values, "project")
    groups = {"console_scripts": project.get("scripts"), **_table(project, "entry-points")}
    lines = []
    for name, points in groups.items():
        items = points.items() if isinstance(points, dict) else ()
        lines += [f"[{name}]", *(f"{key} = {place}" for key, place in items)]
    return "\n".join(lines) + "\n"


def _decode(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")


def _iter_lines(root: Path) -> Iterator[str]:
    files = [path for name in _FOLDERS for path in sorted((root / name).glob("*"))]
    names = [path for path in files if _is_requirements(path)]
    chosen = _choose_groups({path.stem: [str(path)] for path in names})
    always = [root / "requirements.txt", root / "requirements.in"]
    lines = [
        *_iter_files([*always, *map(Path, chosen)], root),
        *_read_ini(root / "tox.ini").get("testenv", "deps", fallback="").splitlines(),
    ]
    extras = {
        name
        for line in lines
        for found in _OWN_EXTRAS.findall(line)
        for name in _WORD.findall(found)
    }
    yield from lines
    yield from _iter_pyproject(_read_toml(root), extras)
    yield from _iter_setup_cfg(root / "setup.cfg")
    yield from _iter_setup_py(root / "setup.py")


def _is_requirements(path: Path) -> bool:
    return bool(_FILES.fullmatch(path.name)) or (
        path.parent.name == "requirements" and path.suffix == ".txt"
    )


def _iter_pyproject(values: Mapping[str, Any], extras: Collection[str]) -> Iterator[str]:
    project, groups = _table(values, "project"), _table(values, "dependency-groups")
    yield from _texts(project.get("dependencies"))
    optional = _table(project, "optional-dependencies")
    yield from _choose_groups(optional)
    yield from (line for name in extras for line in _texts(optional.get(name)))
    yield from _choose_groups({name: _resolve_group(groups, name, ()) for name in groups})
    tools = _table(values, "tool")
    poetry = _table(tools, "poetry")
    own_groups = {
        name: list(_table(group, "dependencies")) for name, group in _table(poetry, "group").items()
    }
    yield from (name for name in _table(poetry, "dependencies") if name != "python")
    yield from _choose_groups({**own_groups, "dev": [*_table(poetry, "dev-dependencies")]})


def _resolve_group(groups: Mapping[str, Any], name: str, seen: tuple[str, ...]) -> list[str]:
    """Return the requirements of a dependency group with those that it includes (PEP 735)."""
    found: list[str] = []
    for item in groups.get(name, ()) if name not in seen else ():
        other = item.get("include-group") if isinstance(item, dict) else None
        found += _resolve_group(groups, str(other), (*seen, name)) if other else _texts([item])
    return found


def _choose_groups(groups: Groups) -> Iterator[str]:
    """Yield what the groups for tests hold; those for development where there are none."""
    for kind in (_TEST_GROUP, _OTHER_GROUP):
        chosen = [name for name in groups if kind.fullmatch(_strip_requirements(name))]
        if chosen:
            for name in chosen:
                yield from _texts(groups[name])
            return


def _strip_requirements(name: str) -> str:
    return re.sub(r"(?i)[-_]?requirements?[-_]?", "", name) or name


def _iter_setup_cfg(path: Path) -> Iterator[str]:
    parser = _read_ini(path)
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        extras = parser.items("options.extras_require")
        yield from _choose_groups({name: text.splitlines() for name, text in extras})
    yield from parser.get("options", "tests_require", fallback="").splitlines()


def _iter_setup_py(path: Path) -> Iterator[str]:
    """Yield the requirements that stand in it as literals."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for name, node in _iter_values(tree):
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            continue
        if name in ("install_requires", "tests_require"):
            yield from _texts(value)
        elif name == "extras_require" and isinstance(value, dict):
            yield from _choose_groups(value)


def _iter_values(tree: ast.Module) -> Iterator[tuple[str | None, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            yield node.arg, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _iter_files(paths: list[Path], root: Path) -> Iterator[str]:
    """Yield the lines of files of requirements, and of those that they include."""
    seen: set[Path] = set()
    while paths:
        path = paths.pop().resolve()
        if path in seen or not path.is_relative_to(root.resolve()):
            continue
        seen.add(path)
        for line in _read(path).replace("\\\n", " ").splitlines():
            plain = re.sub(r"(^|\s)#.*|\s--hash=\S+", "", line).strip()
            if included := _INCLUDE.match(plain):
                paths.append(path.parent / included[1])
            yield plain


def _read_ini(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_read(path))
    except configparser.Error:
        return configparser.ConfigParser()
    return parser


def _read_toml(root: Path) -> dict[str, Any]:
    return _parse_toml(_read(root / "pyproject.toml"))


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return {}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _table(values: Any, name: str) -> dict[str, Any]:
    found = values.get(name) if isinstance(values, dict) else None
    return found if isinstance(found, dict) else {}


def _texts(values: Any) -> list[str]:
    items = [values] if isinstance(values, str) else values
    return [item for item in items or () if isinstance(item, str)]
