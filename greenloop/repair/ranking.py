"""Ranking of edits, which is also the order of plausible patches."""

import ast
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from greenloop.records import Patch
from greenloop.repair.context import CandidateEdit
from greenloop.repair.fault_localization import FaultLocalization
from greenloop.syntax.parse import parse_or_none

_RETURN_KINDS = {"return", "missing return", "guard"}
_MAX_COMMON_CHARS, _COMMON_VALUES = 2, ("True", "False", "None")  # too common to be telling
_SUSPICION_WEIGHT = 2.0  # added to the cost of an edit at a line that is not suspicious
_MAX_EDITS = 60_000

Change = tuple[int, int, str]  # start, end (exclusive), and the new text


@dataclass(frozen=True)
class RankedEdit:
    """An edit with its score (lower is better) and its rank, from 1."""

    edit: CandidateEdit
    suspicion: float
    score: float
    rank: int = 0


def rank_edits(
    edits: Iterable[CandidateEdit],
    code: str,
    localization: FaultLocalization,
) -> list[RankedEdit]:
    """Return the edits, best first; of several with the same result, only the best."""
    best: dict[Change, RankedEdit] = {}
    for edit in edits:
        suspicion = localization.score_line(edit.line)
        key = _find_change(edit, code) if suspicion > 0 else None
        if key is None:
            continue
        score = round(edit.cost + _SUSPICION_WEIGHT * (1 - suspicion), 4)
        if key not in best or score < best[key].score:
            best[key] = RankedEdit(edit, suspicion, score)
        if len(best) > 2 * _MAX_EDITS:
            best = dict(sorted(best.items(), key=lambda item: _order(item[1]))[:_MAX_EDITS])
    ordered = sorted(best.values(), key=_order)[:_MAX_EDITS]
    return [replace(item, rank=rank) for rank, item in enumerate(ordered, 1)]


def _order(item: RankedEdit) -> tuple[float, int, str]:
    return item.score, item.edit.start, item.edit.text


def _find_change(edit: CandidateEdit, code: str) -> Change | None:
    """Return an edit without the unchanged text at its ends; None if it changes nothing."""
    old, new = code[edit.start : edit.end], edit.text
    if old == new:
        return None
    first = _count_common(old, new)
    last = _count_common(old[first:][::-1], new[first:][::-1])
    start, end, text = edit.start + first, edit.end - last, new[first : len(new) - last]
    while start > 0 and not (text and start < end):  # the first of equal places
        if code[start - 1] != (text or code[start:end])[-1]:
            break
        start, end, text = start - 1, end - 1, text[-1:] + text[:-1]
    return start, end, text


def _count_common(one: str, other: str) -> int:
    """Return how many characters are the same at the beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def split_special_cases(
    ranked: Sequence[RankedEdit], expected_values: Sequence[str], code: str
) -> tuple[list[RankedEdit], list[RankedEdit]]:
    """Split off the edits that return a value that a test expects and the code does not have."""
    telling = [item for item in expected_values if len(item) > _MAX_COMMON_CHARS]
    unknown = {item for item in telling if item not in code and item not in _COMMON_VALUES}

    def quotes(item: RankedEdit) -> bool:
        return item.edit.kind in _RETURN_KINDS and any(text in item.edit.text for text in unknown)

    return [item for item in ranked if not quotes(item)], [item for item in ranked if quotes(item)]


def build_patch(ranked: RankedEdit, code: str, module: str) -> Patch:
    """Return the record of an edit that passed."""
    edit = _leave_out_parentheses(ranked.edit, code)
    changed = edit.apply_to(code)
    name = f"{module}.py"
    lines = (code.splitlines(), changed.splitlines())
    return Patch(
        code=changed,
        diff="\n".join(difflib.unified_diff(*lines, name, name, lineterm="")),
        change=edit.description,
        line=edit.line,
        suspicion=round(ranked.suspicion, 4),
        distance=round(edit.cost, 2),
        number=ranked.rank,
    )


def _leave_out_parentheses(edit: CandidateEdit, code: str) -> CandidateEdit:
    """Return an edit without the parentheses around its text, where the code means the same."""
    bare = replace(
        edit,
        text=edit.text[1:-1],
        description=edit.description.replace(f"`{edit.text}`", f"`{edit.text[1:-1]}`"),
    )
    meant, found = (parse_or_none(item.apply_to(code)) for item in (edit, bare))
    is_same = meant and found and ast.dump(meant) == ast.dump(found)
    return bare if edit.text[:1] == "(" and is_same else edit
