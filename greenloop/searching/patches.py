"""Records of what was found."""

from __future__ import annotations

import difflib

from greenloop.records import Patch
from greenloop.searching.ranking import Ranked


def patch_of(item: Ranked, code: str, module: str, agreeing: float | None = None) -> Patch:
    """The record of one edit that passed."""
    changed = item.edit.applied_to(code)
    name = f"{module}.py"
    lines = (code.splitlines(), changed.splitlines())
    return Patch(
        code=changed,
        diff="\n".join(difflib.unified_diff(*lines, name, name, lineterm="")),
        change=item.edit.words,
        line=item.edit.line,
        suspicion=round(item.suspicion, 4),
        distance=round(item.edit.cost, 2),
        number=item.number,
        agreeing=agreeing,
    )
