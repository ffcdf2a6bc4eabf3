"""Differing answers to one call for display, cut around the place where they differ."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from greenloop.records import Difference, Evidence
from greenloop.reporting.escaping import escape_invisible, truncate_words

_CUT = "… "
# A word with the blanks before it, and the brackets, quotes and signs around it.
_WORD: Final = re.compile(
    r"""\s*(?:[([{'"]*[+.-]?\w+(?:-\w+|\.\d+)*[)\]}'",;:=]*|[^\w\s()\[\]{}'",;:]+|\S|$)"""
)


@dataclass(frozen=True, slots=True)
class Side:
    """An answer in three parts, of which `differs` is not the same in the other answer."""

    before: str
    differs: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.differs + self.after


def list_differences(evidence: Evidence) -> tuple[Difference, ...]:
    """Return the differences of code and peer; () if these were not compared."""
    return evidence.peer.differences if evidence.peer else ()


def compare_sides(first: str, second: str, width: int) -> tuple[Side, Side]:
    """Return two answers as lines of at most `width` characters, with their white space."""
    left, right = _to_line(first), _to_line(second)
    shorter = min(len(left), len(right))
    start = next((n for n in range(shorter) if left[n] != right[n]), shorter)
    room = shorter - start
    tail = next((n for n in range(room) if left[-1 - n] != right[-1 - n]), room)
    return _cut(left, start, tail, width), _cut(right, start, tail, width)


def compare_answers(answers: Sequence[str], width: int) -> tuple[Side, ...]:
    """Return the first answer compared with the second, and the others compared with the first."""
    if len(answers) < 2:
        return tuple(Side(_to_line(answer), "", "") for answer in answers)
    pairs = [compare_sides(answers[0], other, width) for other in answers[1:]]
    return (pairs[0][0], *(other for _, other in pairs))


def render_difference(
    item: Difference, width: int, first: str = "the code", second: str = "second implementation"
) -> Iterator[str]:
    """Yield the call, each answer below it, and marks below what differs."""
    return render_answers(item.call, (first, second), (item.code, item.peer), width)


def render_answers(
    call: str, labels: Sequence[str], answers: Sequence[str], width: int
) -> Iterator[str]:
    """Yield the call, if there is one, each answer below it, and marks below what differs."""
    for line in escape_invisible(call).split("\n") if call else ():
        yield truncate_words(line, width)
    column = max(map(len, labels)) + 4
    for label, side in zip(labels, compare_answers(answers, width - column), strict=True):
        yield f"  {label:<{column - 2}}{side.text}"
        if side.differs and len(set(answers)) > 1:
            yield " " * (column + len(side.before)) + "^" * len(side.differs)


def _to_line(text: str) -> str:
    return escape_invisible(text).replace("\n", "⏎").replace("\t", "⇥")


def _cut(text: str, start: int, tail: int, width: int) -> Side:
    """Return the part of a text that differs, with as many whole words around it as fit."""
    end = len(text) - tail
    if len(text) <= width:
        return Side(text[:start], text[start:end], text[end:])
    begin, stop = _find_window(text, start, end, width)
    rest, end = _CUT[::-1] * (stop < len(text)), min(end, stop)
    return Side(_mark_cut(text, begin) + text[begin:start], text[start:end], text[end:stop] + rest)


def _mark_cut(text: str, begin: int) -> str:
    """Return the mark for a text that is cut off before `begin`; '' if none is. A blank follows."""
    return _CUT[: 2 - text[begin : begin + 1].isspace()] if begin else ""


def _find_window(text: str, start: int, end: int, width: int) -> tuple[int, int]:
    """Return start and end of the shown part of a text, with the beginning of the difference."""
    breaks = sorted({*(word.start() for word in _WORD.finditer(text)), len(text)})
    low, high = bisect_right(breaks, start) - 1, bisect_left(breaks, end)

    def fits(low: int, high: int) -> bool:
        cuts = len(_mark_cut(text, breaks[low])) + len(_CUT) * (high < len(breaks) - 1)
        return breaks[high] - breaks[low] + cuts <= width

    while high > low + 1 and not fits(low, high):
        high -= 1
    if not fits(low, high):  # a word that is too long
        begin = max(breaks[low], start - width // 3)
        return begin, min(begin + width - 2 * len(_CUT), len(text))
    while True:
        wider = [(max(low - 1, 0), high), (low, min(high + 1, len(breaks) - 1))]
        wider = [pair for pair in wider if pair != (low, high) and fits(*pair)]
        if not wider:
            return breaks[low], breaks[high]
        low, high = min(wider, key=lambda pair: max(start - breaks[pair[0]], breaks[pair[1]] - end))
