"""Parser of the stack dump of a run that reached its time limit (see `faulthandler`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from greenloop.records import Frame

_LINE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.M)
_WORK_FOLDER = "/work/"  # ends the path of each working folder
_FIRST_FRAMES, _LAST_FRAMES, _MAX_TEXT_CHARACTERS = 3, 12, 300


def parse_frames(dump: str, files: Mapping[str, str]) -> tuple[Frame, ...]:
    """Return the frames in the run's own files (text by name), outermost first.

    Of a deep stack only both ends are returned.
    """
    found = tuple(_iter_own_frames(dump, files))[::-1]
    if len(found) <= _FIRST_FRAMES + _LAST_FRAMES:
        return found
    return found[:_FIRST_FRAMES] + found[-_LAST_FRAMES:]


def _iter_own_frames(dump: str, files: Mapping[str, str]) -> Iterator[Frame]:
    for path, number, function in _LINE.findall(dump):
        if name := _relative_path(path, files):
            lines, line = files[name].split("\n"), int(number[:9])
            text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
            text = text.encode("utf-8", "backslashreplace").decode()[:_MAX_TEXT_CHARACTERS]
            yield Frame(file=name, line=line, function=function[:_MAX_TEXT_CHARACTERS], text=text)


def _relative_path(path: str, files: Mapping[str, str]) -> str:
    """Return the path of an own file within the working folder; '' for another file."""
    _, found, rest = f"/{path}".partition(_WORK_FOLDER)
    while found:
        if rest in files:
            return rest
        _, found, rest = f"/{rest}".partition(_WORK_FOLDER)
    return ""
