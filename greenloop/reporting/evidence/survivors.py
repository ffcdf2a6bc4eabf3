"""Surviving mutants as rows: the place, the change, and the missing test."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from greenloop.records import Evidence, Survivor
from greenloop.reporting.escaping import sanitize_line, truncate_words
from greenloop.reporting.evidence.differences import compare_sides

_MIN_CHANGE_WIDTH, _MAX_MISSING_WIDTH, _MAX_SIDE_WIDTH = 28, 34, 80
# Which of a and b is an x for which `x OP a` and `x OP b` differ.
_PICK: Final[dict[type[ast.cmpop], Callable[[list[float]], float]]] = {
    ast.LtE: max,
    ast.Gt: max,
    ast.Lt: min,
    ast.GtE: min,
}
# Descriptions of the missing test by the operator of the mutant.
_MISSING = {
    "number": "no test fails with this number",
    "truth": "no test depends on this value",
    "nothing": "no test depends on this None",
    "text": "no test compares this text",
    "formatted": "no test compares this text",
    "condition": "no test depends on this condition",
    "no-turn": "no test needs this loop",
    "break": "no test needs the loop to end here",
    "continue": "no test has another item after this one",
    "result": "no test compares this result",
    "yielded": "no test compares this result",
    "assignment": "no test depends on this value",
    "call-removed": "no test sees what this does",
    "raise-removed": "no test sees this exception",
    "statement-removed": "no test sees what this does",
    "handler": "no test raises this inside",
    "exception": "no test names this exception",
    "arithmetic": "each test has the same result",
    "augmented": "each test has the same result",
    "accumulated": "no test does this twice",
    "identity": "no test depends on this comparison",
    "membership": "no test depends on this comparison",
    "comparison": "no test depends on this comparison",
    "boolean": "no test where only one side holds",
    "unary": "each test has the same result",
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

    @property
    def advice(self) -> str:
        """The missing test and the fault that it would notice."""
        return f"{self.missing} ({self.change})"


def build_survivor_row(item: Survivor) -> SurvivorRow:
    """Return the row of a survivor, with untrusted text escaped."""
    before, after = item.before, item.after or "(taken out)"
    missing = _MISSING.get(item.operator, "no test fails")
    if item.operator in ("boundary", "number") and (found := _find_input(before, after)):
        missing = f"no test with {found}"
    if not item.reached:
        missing = "no test runs this line"
    if before.isalnum() and (lines := _list_changed_lines(item)):
        before, after = lines  # a single name or number says little
    missing = truncate_words(missing, _MAX_MISSING_WIDTH)
    sides = (side.text for side in compare_sides(before, after, _MAX_SIDE_WIDTH))
    return SurvivorRow(*map(sanitize_line, (item.place, *sides, missing)))


def describe_fault(item: Survivor) -> str:
    """Return in one line where a survivor is, which test is missing, and the change."""
    place = f"{item.place}, {item.function}" if item.function else item.place
    return f"{place}: {build_survivor_row(item).advice}"


def _find_input(before: str, after: str) -> str:
    """Return `x = 30` if the comparisons differ for it, in an operator or a number; else ''."""
    try:
        one, other = (ast.parse(text, mode="eval").body for text in (before, after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if not isinstance(one, ast.Compare) or not isinstance(other, ast.Compare):
        return ""
    first, second = ([item.left, *item.comparators] for item in (one, other))
    for at, operators in enumerate(zip(one.ops, other.ops, strict=False)):
        if type(operators[0]) is not type(operators[1]):
            return f"{ast.unparse(first[at])} = {ast.unparse(first[at + 1])}"
    for at, pair in enumerate(zip(first, second, strict=False)):
        values = [item.value for item in pair if isinstance(item, ast.Constant)]
        numbers = [value for value in values if isinstance(value, int | float)]
        pick = _PICK.get(type(one.ops[max(at - 1, 0)]))
        if not pick or len({*numbers}) != 2:
            continue
        if at == 0:  # `30 < x` is `x > 30`
            pick = min if pick is max else max
        return f"{ast.unparse(first[at - 1 if at else 1])} = {pick(numbers)}"
    return ""


def _list_changed_lines(survivor: Survivor) -> list[str]:
    """Return the original line and the mutant's line; [] if either is not exactly one line."""
    lines = [line for line in diff_hunk(survivor) if line.startswith(("-", "+"))]
    is_pair = [line[0] for line in lines] == ["-", "+"]
    return [line[1:].strip() for line in lines] if is_pair else []


def format_survivor_rows(survivors: Sequence[Survivor], width: int) -> list[str]:
    """Return the survivors as lines in columns, at most `width` wide.

    Each survivor has one line, and a second one for its change if that does not fit in the first.
    """
    rows = [build_survivor_row(item) for item in survivors]
    places = max((len(row.place) for row in rows), default=0)
    rooms = [width - places - len(row.missing) - 5 for row in rows]
    sizes = [len(row.change) for row in rows]
    fitting = [size for size, room in zip(sizes, rooms, strict=True) if size <= room]
    lines = []
    for row, room in zip(rows, rooms, strict=True):
        if len(row.change) <= room:
            column = min(max(fitting), room)
            lines.append(f"{row.place:<{places}}  {row.change:<{column}}   {row.missing}")
        else:
            change = _shorten_change(row, max(width - 4, _MIN_CHANGE_WIDTH))
            lines += [f"{row.place:<{places}}  {row.missing}", f"    {change}"]
    return lines


def list_survivors(evidence: Evidence) -> tuple[Survivor, ...]:
    """Return the surviving mutants; () if mutants were not measured."""
    return evidence.mutation.survived if evidence.mutation else ()


def diff_hunk(survivor: Survivor) -> list[str]:
    """Return the change with the lines around it, without the headers of the diff."""
    lines = survivor.diff.rstrip("\n").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    return list(dropwhile(str.isspace, lines[heads[0] + 1 :] if heads else lines))


def get_mutated_line(survivor: Survivor) -> str:
    """Return the first line that the mutant adds, or `(taken out)`."""
    lines = (line for line in survivor.diff.split("\n") if line.startswith("+"))
    return next((line[1:].strip() for line in lines if not line.startswith("+++")), "(taken out)")


def _shorten_change(row: SurvivorRow, room: int) -> str:
    """Return the change in at most `room` columns, both sides cut around the difference."""
    if len(row.change) <= room:
        return row.change
    half = (room - 3) // 2
    widths = max(half, room - 3 - len(row.after)), max(half, room - 3 - len(row.before))
    first, second = (compare_sides(row.before, row.after, width) for width in widths)
    return f"{first[0].text} → {second[1].text}"
