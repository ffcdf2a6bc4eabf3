"""The order in which edits are tried, and thereby the order of plausible patches."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.records import Patch
from greenloop.repair.context import CandidateEdit
from greenloop.repair.fault_localization import FaultLocalization

_SUSPICION_WEIGHT = 2.0  # added to the cost of an edit at a line that is not suspicious
_MAX_EDITS = 8000


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
