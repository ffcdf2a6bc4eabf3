"""In which order edits are tried, and so which of several plausible ones comes first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.repair.fault_localization import Suspicion
from greenloop.syntax.edit import Edit

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
    best: dict[str, tuple[float, float, Edit]] = {}
    for edit in found:
        place = suspicion.of(edit.line)
        key = edit.applied_to(code)
        if place <= 0 or key == code:
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
