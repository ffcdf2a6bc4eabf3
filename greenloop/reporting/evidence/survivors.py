"""Surviving mutants as rows: the place, what was changed, and which test is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from greenloop.records import Evidence, Survivor
from greenloop.reporting.escaping import sanitize_line, truncate_words

_BOUNDARY = re.compile(r"(?P<left>.+?) (?:<=|>=|<|>) (?P<right>.+)")
_MIN_CHANGE_WIDTH, _MAX_MISSING_WIDTH = 28, 34
# What no test does, by the operator of the mutant.
_MISSING = {
    "number": "no test needs this exact number",
    "truth": "no test depends on this value",
    "nothing": "no test depends on this None",
    "text": "no test compares this text",
    "formatted": "no test compares this text",
    "condition": "no test depends on this condition",
    "no-turn": "no test needs this loop",
    "break": "no test goes on after this point",
    "continue": "no test goes on after this point",
    "result": "no test compares this result",
    "yielded": "no test compares this result",
    "assignment": "no test depends on this value",
    "call-removed": "no test sees what this does",
    "raise-removed": "no test sees this exception",
    "statement-removed": "no test sees what this does",
    "handler": "no test raises this inside",
    "exception": "no test names this exception",
    "arithmetic": "no test has another result then",
    "augmented": "no test has another result then",
    "accumulated": "no test does this twice",
    "identity": "no test depends on this comparison",
    "membership": "no test depends on this comparison",
    "comparison": "no test depends on this comparison",
    "boolean": "no test where only one side holds",
    "unary": "no test has another result then",
    "other-call": "no test where these two differ",
    "unwrapped": "no test where these two differ",
    "slice": "no test needs this limit",
    "argument": "no test depends on this argument",
    "keyword": "no test depends on this argument",
    "default": "no test leaves this argument out",
    "decorator": "no test sees what this does",
}


@dataclass(frozen=True, slots=True)
class SurvivorRow:
    """A survivor in a line: `line 10`, `n <= 0 → n < 0`, `no test with n = 0`."""

    place: str
    before: str
    after: str
    missing: str

    @property
    def change(self) -> str:
        return f"{self.before} → {self.after}"


def build_survivor_row(item: Survivor) -> SurvivorRow:
    """Return the row of a survivor, with untrusted text escaped."""
    before, after = item.before, item.after or "(taken out)"
    missing = _MISSING.get(item.operator, "no test fails")
    boundary = _BOUNDARY.fullmatch(before) if item.operator == "boundary" else None
    if boundary:
        missing = f"no test with {boundary['left']} = {boundary['right']}"
    if not item.reached:
        missing = "no test runs this line"
    missing = truncate_words(missing, _MAX_MISSING_WIDTH)
    return SurvivorRow(*map(sanitize_line, (item.place, before, after, missing)))


def format_survivor_rows(survivors: Sequence[Survivor], width: int) -> list[str]:
    """Return one line for each survivor, in columns, at most as wide as given."""
    rows = [build_survivor_row(item) for item in survivors]
    places = max((len(row.place) for row in rows), default=0)
    missing = max((len(row.missing) for row in rows), default=0)
    room = max(width - places - missing - 5, _MIN_CHANGE_WIDTH)
    changes = [_shorten_change(row, room) for row in rows]
    column = max(map(len, changes), default=0)
    return [
        f"{row.place:<{places}}  {change:<{column}}   {row.missing}"
        for row, change in zip(rows, changes, strict=True)
    ]


def list_survivors(evidence: Evidence) -> tuple[Survivor, ...]:
    """Return the surviving mutants, none where mutants were not measured."""
    return evidence.mutation.survived if evidence.mutation else ()


def diff_hunk(survivor: Survivor) -> list[str]:
    """Return the change with the lines around it, without the headers of the diff."""
    lines = survivor.diff.rstrip("\n").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    return list(dropwhile(str.isspace, lines[heads[0] + 1 :] if heads else lines))


def get_mutated_line(survivor: Survivor) -> str:
    """Return the first line that the mutant has instead."""
    lines = (line for line in survivor.diff.split("\n") if line.startswith("+"))
    return next((line[1:].strip() for line in lines if not line.startswith("+++")), "(taken out)")


def _shorten_change(row: SurvivorRow, room: int) -> str:
    if len(row.change) <= room:
        return row.change
    name = row.before[: row.before.find("= ") + 2]
    if name.endswith("= ") and row.after.startswith(name):  # the assignment stands at the place
        row = replace(row, before=row.before[len(name) :], after=row.after[len(name) :])
        return _shorten_change(row, room)
    half = (room - 3) // 2
    before = truncate_words(row.before, max(half, room - 3 - len(row.after)))
    return f"{before} → {truncate_words(row.after, room - 3 - len(before))}"
