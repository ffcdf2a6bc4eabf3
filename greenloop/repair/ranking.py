"""The order in which edits are tried, and thereby the order of plausible patches."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice

from greenloop.records import Patch
from greenloop.repair.context import CandidateEdit
from greenloop.repair.fault_localization import FaultLocalization

_SUSPICION_WEIGHT = 2.0  # added to the cost of an edit at a line that is not suspicious
_MAX_EDITS, _MAX_PAIRED, _MAX_REPEATED, _MAX_PAIRS = 60_000, 200, 5_000, 15_000


@dataclass(frozen=True)
class RankedEdit:
    """An edit with its score (lower is better) and its rank, from 1."""

    edit: CandidateEdit
    suspicion: float
    score: float
    rank: int


def rank_edits(
    edits: Iterable[CandidateEdit],
    code: str,
    localization: FaultLocalization,
    known: Sequence[RankedEdit] = (),
) -> list[RankedEdit]:
    """Return edits best first, of those with the same result the cheapest; none that is known."""
    left_out = {code, *(item.edit.apply_to(code) for item in known)}
    best: dict[str, tuple[float, float, CandidateEdit]] = {}
    for edit in edits:
        suspicion = localization.score_line(edit.line)
        key = edit.apply_to(code)
        if suspicion <= 0 or key in left_out:
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
    changes: dict[str, list[RankedEdit]] = {}
    for item in ranked:
        changes.setdefault(item.edit.description, []).append(item)
    repeated = chain.from_iterable(combinations(items, 2) for items in changes.values())
    others = combinations(ranked[:_MAX_PAIRED], 2)
    pairs = dict.fromkeys(
        (one, other) if one.edit.start <= other.edit.start else (other, one)
        for one, other in chain(islice(repeated, _MAX_REPEATED), others)
    )
    merged = [_merge(*pair, code) for pair in pairs if pair[0].edit.end <= pair[1].edit.start]
    merged.sort(key=lambda item: (item.score, item.rank))
    return [replace(item, rank=rank) for rank, item in enumerate(merged[:_MAX_PAIRS], 1)]


def _merge(one: RankedEdit, other: RankedEdit, code: str) -> RankedEdit:
    """Return both edits as one; the same change at two places costs little more than at one."""
    first, second = one.edit, other.edit
    score = one.score + other.score - (first.description == second.description)
    edit = CandidateEdit(
        first.start,
        second.end,
        f"{first.text}{code[first.end : second.start]}{second.text}",
        "two edits",
        f"{first.description}; {second.description}",
        score,
        first.line,
    )
    suspicion = min(one.suspicion, other.suspicion)
    return RankedEdit(edit, suspicion, round(score, 4), one.rank + other.rank)


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
