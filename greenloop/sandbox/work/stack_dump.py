"""What a run answered when it was asked where it is: lines of its own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from greenloop.records import Frame

_LINE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.M)
_FOLDER = "/work/"  # the last part of every run's working folder
_FIRST, _LAST, _TEXT = 3, 12, 300


def frames(answer: str, files: Mapping[str, str]) -> tuple[Frame, ...]:
    """Outermost first; `files` are the run's own, text by name. Of a long way its two ends."""
    found = list(_own(answer, files))[::-1]
    return tuple(found if len(found) <= _FIRST + _LAST else found[:_FIRST] + found[-_LAST:])


def _own(answer: str, files: Mapping[str, str]) -> Iterator[Frame]:
    for path, number, function in _LINE.findall(answer):
        name = _relative(path, files)
        if name:
            lines = files[name].split("\n")
            line = int(number[:9])
            text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
            yield Frame(file=name, line=line, function=function[:_TEXT], text=_plain(text))


def _relative(path: str, files: Mapping[str, str]) -> str:
    """The path of one of the run's own files within its folder; '' where it is none."""
    _, found, rest = f"/{path}".partition(_FOLDER)
    while found:
        if rest in files:
            return rest
        _, found, rest = f"/{rest}".partition(_FOLDER)
    return ""


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()[:_TEXT]
