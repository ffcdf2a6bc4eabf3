"""What a run answered when it was asked where it is: lines of its own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from greenloop.records import Frame

_LINE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.M)
_WORK_FOLDER = "/work/"  # the last part of every run's working folder
_FIRST_FRAMES, _LAST_FRAMES, _MAX_TEXT_CHARACTERS = 3, 12, 300


def parse_frames(dump: str, files: Mapping[str, str]) -> tuple[Frame, ...]:
    """Outermost first; `files` are the run's own, text by name. Of a long way its two ends."""
    found = list(_iter_own_frames(dump, files))[::-1]
    return tuple(
        found
        if len(found) <= _FIRST_FRAMES + _LAST_FRAMES
        else found[:_FIRST_FRAMES] + found[-_LAST_FRAMES:]
    )


def _iter_own_frames(dump: str, files: Mapping[str, str]) -> Iterator[Frame]:
    for path, number, function in _LINE.findall(dump):
        name = _relative_path(path, files)
        if name:
            lines = files[name].split("\n")
            line = int(number[:9])
            text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
            yield Frame(
                file=name,
                line=line,
                function=function[:_MAX_TEXT_CHARACTERS],
                text=_escape_text(text),
            )


def _relative_path(path: str, files: Mapping[str, str]) -> str:
    """The path of one of the run's own files within its folder; '' where it is none."""
    _, found, rest = f"/{path}".partition(_WORK_FOLDER)
    while found:
        if rest in files:
            return rest
        _, found, rest = f"/{rest}".partition(_WORK_FOLDER)
    return ""


def _escape_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()[:_MAX_TEXT_CHARACTERS]
