"""Files that a build or installation would add to a project: version module and metadata."""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from greenloop.toml import find_table, read_ini, read_table

_VERSION_FILE = re.compile(
    r"""(?m)^[\w.-]*(?:version[-_]file|write_to)\s*=\s*["']([^"'\n]+\.py)["']"""
)
_NAME = re.compile(r"""(?m)^name\s*=\s*([\w.-]+)|\bname\s*=\s*["']([\w.-]+)""")
_STATIC_VERSION = re.compile(r"""\bversion\s*=\s*["']?(\d[\w.+!-]*)""")
_VERSION = b'__version__ = version = "0.0.0"\n__version_tuple__ = version_tuple = (0, 0, 0)\n'


def generate_files(read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """Return the files by path; `read` returns a file of the project, None if it is missing."""
    text, added = _decode(read("pyproject.toml")), {}
    found = _VERSION_FILE.search(text)
    path = str(PurePosixPath(found[1])) if found else ""
    if (
        path
        and read(path) is None
        and read(f"{PurePosixPath(path).parent}/__init__.py") is not None
    ):
        added[path] = _VERSION
    values = read_table(text)
    name, version = _find_name(values, read)
    if name:
        folder = f"{re.sub('[-_.]+', '_', name)}-{version}.dist-info"
        lines = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        added[f"{folder}/METADATA"] = lines.encode()
        added[f"{folder}/entry_points.txt"] = _format_entry_points(values, read).encode()
    return added


def _find_name(values: Mapping[str, Any], read: Callable[[str], bytes | None]) -> tuple[str, str]:
    """Return the name and the version of a project, or ('', '') if no file has them."""
    for table in (find_table(values, "project"), find_table(values, "tool", "poetry")):
        if isinstance(table.get("name"), str):
            return table["name"], str(table.get("version", "0"))
    for path in ("setup.cfg", "setup.py"):
        older = _decode(read(path))
        if found := _NAME.search(older):
            version = _STATIC_VERSION.search(older)
            return found[1] or found[2], version[1] if version else "0"
    return "", ""


def _format_entry_points(values: Mapping[str, Any], read: Callable[[str], bytes | None]) -> str:
    project, poetry = find_table(values, "project"), find_table(values, "tool", "poetry")
    groups: dict[str, Any] = {"console_scripts": project.get("scripts") or poetry.get("scripts")}
    groups |= find_table(project, "entry-points") or find_table(poetry, "plugins")
    older = read_ini(_decode(read("setup.cfg"))).get("options.entry_points", {})
    lines = [f"[{name}]\n{text}" for name, text in older.items()]
    for name, points in groups.items():
        items = points.items() if isinstance(points, dict) else ()
        lines += [f"[{name}]", *(f"{key} = {place}" for key, place in items)]
    return "\n".join(lines) + "\n"


def _decode(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
