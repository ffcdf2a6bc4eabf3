"""The order in which edits are tried, and thereby the order of plausible patches."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice

from greenloop.records import Patch
from greenloop.repair.context import CandidateEdit, Edits
from greenloop.repair.fault_localization import FaultLocalization

_RETURN_KINDS = {"return", "missing return", "guard", "default"}
_MAX_COMMON_CHARS, _COMMON_VALUES = 2, ("True", "False", "None")  # such values say nothing
_SUSPICION_WEIGHT = 2.0  # added to the cost of an edit at a line that is not suspicious
_PAIR_PENALTY, _REPETITION_COST = 1.0, 0.5
_MAX_EDITS, _MAX_PAIRED, _MAX_REPEATED, _MAX_PAIRS = 60_000, 200, 5_000, 15_000
_MAX_PAIR_DISTANCE = 8_000  # characters between two edits that are tried as one


Change = tuple[int, int, str]  # first and last character, and the new text


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
) -> list[RankedEdit]:
    """Return edits best first, of those with the same result the cheapest."""
    best: dict[Change, tuple[float, float, CandidateEdit]] = {}
    suspicious = (edit for edit in edits if localization.score_line(edit.line) > 0)
    for edit in _add_repeated(suspicious, code):
        key = _find_change(edit, code)
        if key is None:
            continue
        suspicion = localization.score_line(edit.line)
        score = edit.cost + _SUSPICION_WEIGHT * (1 - suspicion)
        if key not in best or score < best[key][0]:
            best[key] = (score, suspicion, edit)
        if len(best) > 2 * _MAX_EDITS:
            best = dict(sorted(best.items(), key=lambda item: _order(item[1]))[:_MAX_EDITS])
    ordered = sorted(best.values(), key=_order)
    return [
        RankedEdit(edit, suspicion, round(score, 4), rank)
        for rank, (score, suspicion, edit) in enumerate(ordered[:_MAX_EDITS], 1)
    ]


def _order(item: tuple[float, float, CandidateEdit]) -> tuple[float, int, str]:
    score, _, edit = item
    return round(score, 4), edit.start, edit.text


def _find_change(edit: CandidateEdit, code: str) -> Change | None:
    """Return what an edit changes, without what stays the same at its ends; None for nothing."""
    old, new = code[edit.start : edit.end], edit.text
    if old == new:
        return None
    first = _count_common(old, new)
    last = _count_common(old[first:][::-1], new[first:][::-1])
    start, end, text = edit.start + first, edit.end - last, new[first : len(new) - last]
    while start > 0 and not (text and start < end):  # as far to the front as it can be
        if code[start - 1] != (text or code[start:end])[-1]:
            break
        start, end, text = start - 1, end - 1, text[-1:] + text[:-1]
    return start, end, text


def _count_common(one: str, other: str) -> int:
    """Return how many characters are the same at the beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _add_repeated(edits: Iterable[CandidateEdit], code: str) -> Edits:
    """Yield edits, and those with the same change at two places of a line as one edit."""
    changes: dict[tuple[int, str], list[CandidateEdit]] = {}
    for edit in edits:
        yield edit
        places = changes.setdefault((edit.line, edit.description), [])
        for other in places:
            first, second = (other, edit) if other.start < edit.start else (edit, other)
            if first.end <= second.start:
                yield _join(first, second, code, edit.cost + _REPETITION_COST)
        places.append(edit)


def split_special_cases(
    ranked: Sequence[RankedEdit], expected_values: Sequence[str], code: str
) -> tuple[list[RankedEdit], list[RankedEdit]]:
    """Return edits, and those that only return a value that a test expects and the code has not."""
    telling = [item for item in expected_values if len(item) > _MAX_COMMON_CHARS]
    unknown = {item for item in telling if item not in code and item not in _COMMON_VALUES}

    def quotes(item: RankedEdit) -> bool:
        return item.edit.kind in _RETURN_KINDS and any(text in item.edit.text for text in unknown)

    return [item for item in ranked if not quotes(item)], [item for item in ranked if quotes(item)]


def pair_edits(ranked: Sequence[RankedEdit], code: str) -> list[RankedEdit]:
    """Return pairs of the best edits as one edit each, best first; both are in one function."""
    changes: dict[str, list[RankedEdit]] = {}
    for item in ranked:
        changes.setdefault(item.edit.description, []).append(item)
    repeated = chain.from_iterable(combinations(items, 2) for items in changes.values())
    pairs = chain(islice(repeated, _MAX_REPEATED), combinations(ranked[:_MAX_PAIRED], 2))
    return _merge_pairs(pairs, code)


def _merge_pairs(pairs: Iterable[tuple[RankedEdit, RankedEdit]], code: str) -> list[RankedEdit]:
    ordered = dict.fromkeys(
        (one, other) if one.edit.start <= other.edit.start else (other, one) for one, other in pairs
    )
    merged = [
        _merge(*pair, code)
        for pair in ordered
        if 0 <= pair[1].edit.start - pair[0].edit.end <= _MAX_PAIR_DISTANCE
    ]
    ordered_by_score = sorted(merged, key=lambda item: (item.score, item.rank))[:_MAX_PAIRS]
    return [replace(item, rank=rank) for rank, item in enumerate(ordered_by_score, 1)]


def _merge(one: RankedEdit, other: RankedEdit, code: str) -> RankedEdit:
    """Return both edits as one; the same change at two places costs little more than at one."""
    score = one.score + other.score + _PAIR_PENALTY
    score -= one.edit.description == other.edit.description
    edit = _join(one.edit, other.edit, code, score)
    suspicion = min(one.suspicion, other.suspicion)
    return RankedEdit(edit, suspicion, round(score, 4), one.rank + other.rank)


def _join(first: CandidateEdit, second: CandidateEdit, code: str, cost: float) -> CandidateEdit:
    """Return two edits as one; the first ends before the second."""
    between = code[first.end : second.start]
    text = f"{first.text}{between}{second.text}"
    description = f"{first.description}; {second.description}"
    return CandidateEdit(first.start, second.end, text, "two edits", description, cost, first.line)


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
