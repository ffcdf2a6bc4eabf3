"""Names of files that untrusted code has made, as they are shown and written on the host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath


def make_paths_safe(paths: Sequence[str]) -> list[str]:
    """Return paths, each different, that no terminal or command takes for something else.

    Characters that cannot be printed become `_`: newlines, escape sequences, marks of direction.
    So does `-` at the beginning of a name, which commands take for an option. Other paths stay as
    they are.
    """
    unchanged = {path for path in paths if _replace_characters(path) == path}
    taken = {str(item) for path in unchanged for item in (path, *PurePosixPath(path).parents)}
    return [path if path in unchanged else _choose_name(path, taken) for path in paths]


def make_text_safe(text: str) -> str:
    """Return a text in one line without characters that cannot be printed."""
    return "".join(char if char.isprintable() else "_" for char in text)


def _replace_characters(path: str) -> str:
    names = (make_text_safe(name) for name in path.split("/"))
    return "/".join(f"_{name[1:]}" if name.startswith("-") else name for name in names)


def _choose_name(path: str, taken: set[str]) -> str:
    """Return a safe path at the top of the folder, and add it to those that are taken."""
    base = safe = _replace_characters(path).replace("/", "_")
    number = 1
    while safe in taken:
        number += 1
        safe = f"{base}~{number}"
    taken.add(safe)
    return safe
