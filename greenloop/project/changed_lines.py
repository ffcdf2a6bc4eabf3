"""Lines that differ between two versions of a file."""

from __future__ import annotations

from difflib import SequenceMatcher


def find_changed_lines(before: str, after: str) -> tuple[set[int], set[int]]:
    """Return the numbers of changed lines, in the old version and in the new one.

    Where lines are only added, the old lines around them count as changed; where lines are only
    removed, the new ones.
    """
    sides = before.split("\n"), after.split("\n")
    old: set[int] = set()
    new: set[int] = set()
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *sides, autojunk=False).get_opcodes():
        if tag != "equal":
            old.update(range(i1 + 1, i2 + 1) or (i1, i1 + 1))
            new.update(range(j1 + 1, j2 + 1) or (j1, j1 + 1))
    return old, new
