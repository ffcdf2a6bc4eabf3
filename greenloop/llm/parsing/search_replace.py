"""SEARCH/REPLACE blocks, with which a repair names only the lines that change."""

import re
from dataclasses import dataclass

from greenloop.llm.parsing.errors import InvalidResponse

_START = re.compile(r"^<{5,9} ?SEARCH", re.MULTILINE)
_EDIT = re.compile(
    r"^(?P<mark><{5,9}) ?SEARCH[^\n]*\n(?P<body>.*?)^>{5,9} ?REPLACE[^\n]*$",
    re.MULTILINE | re.DOTALL,
)
_SEPARATOR = re.compile(r"^(={5,9})[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True)
class SearchReplaceEdit:
    """Replacement of `search`, which occurs exactly once in the current code."""

    search: str
    replace: str


def parse_edits(text: str) -> list[SearchReplaceEdit]:
    """Return the edits of a cleaned answer, in order.

    Raises InvalidResponse: one has no end, or may be divided at several lines or at none.
    """
    found = list(_EDIT.finditer(text))
    if len(found) < len(_START.findall(text)):
        raise InvalidResponse(
            f"SEARCH block {len(found) + 1} has no end: close each with `>>>>>>> REPLACE`."
        )
    return [_divide(item["body"], len(item["mark"]), at) for at, item in enumerate(found, 1)]


def _divide(body: str, width: int, number: int) -> SearchReplaceEdit:
    """Divide an edit at its separator, whose `width` is that of the other marks.

    Another row of `=` may underline a heading.
    """
    rows = list(_SEPARATOR.finditer(body))
    found = [row for row in rows if len(row[1]) == width] or rows
    if len(found) != 1:
        raise InvalidResponse(
            f"SEARCH block {number} has {len(found)} rows of `=` that may end SEARCH, and needs one. "
            "Where the code has such rows, write all three marks with nine signs: `<<<<<<<<< "
            "SEARCH`, `=========`, `>>>>>>>>> REPLACE`."
        )
    return SearchReplaceEdit(body[: found[0].start()], body[found[0].end() :])


def apply_edits(source: str, edits: list[SearchReplaceEdit]) -> str:
    """Return the source after all edits.

    Raises InvalidResponse: a SEARCH text is empty, or does not occur exactly once.
    """
    if not source.endswith("\n"):
        source += "\n"
    for number, edit in enumerate(edits, 1):
        source = _apply_edit(source, edit, number)
    return source


def _apply_edit(source: str, edit: SearchReplaceEdit, number: int) -> str:
    if not edit.search.strip():
        raise InvalidResponse(f"SEARCH block {number} is empty. Name the lines to replace.")
    lines = edit.search.rstrip("\n").split("\n")
    with_any_trailing_blanks = (re.escape(line.rstrip()) + r"[ \t]*\n" for line in lines)
    for pattern in ("^" + re.escape(edit.search), "^" + "".join(with_any_trailing_blanks)):
        found = list(re.finditer(pattern, source, re.MULTILINE))
        if len(found) == 1:
            return source[: found[0].start()] + edit.replace + source[found[0].end() :]
        if len(found) > 1:
            raise InvalidResponse(
                f"SEARCH block {number} stands {len(found)} times; add lines around it."
            )
    raise InvalidResponse(
        f"SEARCH block {number} does not stand in the code; copy its lines exactly."
    )
