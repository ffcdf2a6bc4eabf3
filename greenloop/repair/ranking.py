"""The order in which edits are tried, and thereby the order of plausible patches."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from greenloop.records import Patch
from greenloop.repair.context import CandidateEdit
from greenloop.repair.fault_localization import FaultLocalization

_SUSPICION_WEIGHT = 2.0  # added to the cost of an edit at a line that is not suspicious
_MAX_EDITS, _MAX_PAIRED, _MAX_PAIRS = 60_000, 250, 15_000


@dataclass(frozen=True)
class RankedEdit:
    """An edit with its score (lower is better) and its rank, from 1."""

    edit: CandidateEdit
    suspicion: float
    score: float
    rank: int


def rank_edits(
    edits: Iterable[CandidateEdit], code: str, localization: FaultLocalization
) -> list[RankedEdit]:
    """Return edits best first, of those with the same result the cheapest."""
    best: dict[str, tuple[float, float, CandidateEdit]] = {}
    for edit in edits:
        suspicion = localization.score_line(edit.line)
        key = edit.apply_to(code)
        if suspicion <= 0 or key == code:
            continue
        score = edit.cost + _SUSPICION_WEIGHT * (1 - suspicion)
        if key not in best or score < best[key][0]:
            best[key] = (score, suspicion, edit)
    ordered = sorted(best.values(), key=lambda i: (round(i[0], 4), i[2].start, i[2].text))
    return [
        RankedEdit(edit, suspicion, round(score, 4), rank)
        for rank, (score, suspicion, edit) in enumerate(ordered[:_MAX_EDITS], 1)
    ]


def pair_edits(ranked: Sequence[RankedEdit], code: str) -> list[RankedEdit]:
    """Return pairs of the best edits as one edit each, best first; both are in one function."""
    best = [item for item in ranked if item.suspicion > 0][:_MAX_PAIRED]
    pairs = (
        (one, other) if one.edit.start <= other.edit.start else (other, one)
        for one, other in combinations(best, 2)
    )
    apart = [(one, other) for one, other in pairs if one.edit.end <= other.edit.start]
    apart.sort(key=lambda pair: (pair[0].score + pair[1].score, pair[0].rank + pair[1].rank))
    return [_merge(*pair, code, rank) for rank, pair in enumerate(apart[:_MAX_PAIRS], 1)]


def _merge(one: RankedEdit, other: RankedEdit, code: str, rank: int) -> RankedEdit:
    first, second = one.edit, other.edit
    edit = CandidateEdit(
        first.start,
        second.end,
        f"{first.text}{code[first.end : second.start]}{second.text}",
        "two edits",
        f"{first.description}; {second.description}",
        first.cost + second.cost,
        first.line,
    )
    score = round(one.score + other.score, 4)
    return RankedEdit(edit, min(one.suspicion, other.suspicion), score, rank)


def build_patch(ranked: RankedEdit, code: str, module: str) -> Patch:
    """Return the record of an edit that passed."""
    changed = ranked.edit.apply_to(code)
    name = f"{module}.py"
    lines = (code.splitlines(), changed.splitlines())
    return Patch(
        code=changed,
        diff="\n".join(difflib.unified_diff(*lines, name, name, lineterm="")),
        change=ranked.edit.description,
        line=ranked.edit.line,
        suspicion=round(ranked.suspicion, 4),
        distance=round(ranked.edit.cost, 2),
        number=ranked.rank,
    )
