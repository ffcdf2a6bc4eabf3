"""SEARCH/REPLACE blocks: a repair of a large module that names only what changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenloop.llm.parsing.errors import Unusable

_EDIT = re.compile(
    r"^<{5,9} ?SEARCH[^\n]*\n(?P<search>.*?)^={5,9}[ \t]*\n(?P<replace>.*?)^>{5,9} ?REPLACE[^\n]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Edit:
    """Replace `search`, which stands exactly once in the current code, by `replace`."""

    search: str
    replace: str


def edits_in(text: str) -> list[Edit]:
    """All edits of a cleaned answer, in order."""
    return [Edit(found["search"], found["replace"]) for found in _EDIT.finditer(text)]


def apply_edits(source: str, edits: list[Edit]) -> str:
    """The source after all edits.

    Raises:
        Unusable: a SEARCH text does not stand in the source, or more than once.
    """
    if not source.endswith("\n"):
        source += "\n"
    for number, edit in enumerate(edits, 1):
        source = _apply(source, edit, number)
    return source


def _apply(source: str, edit: Edit, number: int) -> str:
    if not edit.search.strip():
        raise Unusable(f"SEARCH block {number} is empty. Name the lines to replace.")
    for pattern in ("^" + re.escape(edit.search), _loose(edit.search)):
        found = list(re.finditer(pattern, source, re.MULTILINE))
        if len(found) == 1:
            return source[: found[0].start()] + edit.replace + source[found[0].end() :]
        if len(found) > 1:
            raise Unusable(f"SEARCH block {number} stands {len(found)} times; add lines around it.")
    raise Unusable(f"SEARCH block {number} does not stand in the code; copy its lines exactly.")


def _loose(search: str) -> str:
    """The same lines, whatever blanks stand at their ends."""
    lines = [re.escape(line.rstrip()) + r"[ \t]*\n" for line in search.rstrip("\n").split("\n")]
    return "^" + "".join(lines)
