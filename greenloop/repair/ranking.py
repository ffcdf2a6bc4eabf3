"""In which order edits are tried, and so which of several plausible ones comes first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.repair.fault_localization import FaultLocalization
from greenloop.syntax.edit import TextEdit

_SUSPICION_WEIGHT = 2.0  # of a place that is not suspicious at all, in units of an edit's cost
_MAX_EDITS = 8000


@dataclass(frozen=True)
class RankedEdit:
    """`score`: less is better. `number`: its place, from 1."""

    edit: TextEdit
    suspicion: float
    score: float
    rank: int


def rank_edits(
    edits: Iterable[TextEdit], code: str, localization: FaultLocalization, seed: int
) -> list[RankedEdit]:
    """Best first; of edits that make the same text the cheapest. `seed` decides between equals."""
    best: dict[str, tuple[float, float, TextEdit]] = {}
    for edit in edits:
        place = localization.score_line(edit.line)
        key = edit.apply_to(code)
        if place <= 0 or key == code:
            continue
        score = edit.cost + _SUSPICION_WEIGHT * (1 - place)
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
        RankedEdit(edit, place, score, number)
        for number, (score, _, place, edit) in enumerate(drawn[:_MAX_EDITS], 1)
    ]
