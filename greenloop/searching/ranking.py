"""In which order edits are tried, and so which of several plausible ones comes first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.searching.edit import Edit
from greenloop.searching.suspicion import Suspicion

_WEIGHT = 2.0  # of a place that is not suspicious at all, in units of an edit's cost
_MOST = 8000


@dataclass(frozen=True)
class Ranked:
    """`score`: less is better. `number`: its place, from 1."""

    edit: Edit
    suspicion: float
    score: float
    number: int


def ranked(found: Iterable[Edit], code: str, suspicion: Suspicion, seed: int) -> list[Ranked]:
    """Best first; of edits that make the same text the cheapest. `seed` decides between equals."""
    best: dict[tuple[int, int, str], tuple[float, float, Edit]] = {}
    for edit in found:
        place = suspicion.of(edit.line)
        key = _trimmed(edit, code)
        if place <= 0 or (key[0] == key[1] and not key[2]):
            continue
        score = edit.cost + _WEIGHT * (1 - place)
        if key not in best or score < best[key][0]:
            best[key] = (score, place, edit)
    equals = random.Random(seed)
    drawn = [
        (round(score, 4), equals.random(), place, edit) for score, place, edit in best.values()
    ]
    if not seed:
        drawn.sort(key=lambda item: (item[0], item[3].start, item[3].text))
    else:
        drawn.sort(key=lambda item: item[:2])
    return [
        Ranked(edit, place, score, number)
        for number, (score, _, place, edit) in enumerate(drawn[:_MOST], 1)
    ]


def _trimmed(edit: Edit, code: str) -> tuple[int, int, str]:
    """The same change without what stays: equal for edits that make the same text."""
    start, end, text = edit.start, edit.end, edit.text
    while end > start and text and code[end - 1] == text[-1]:
        end, text = end - 1, text[:-1]
    while start < end and text and code[start] == text[0]:
        start, text = start + 1, text[1:]
    return start, end, text
