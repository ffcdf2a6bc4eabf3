"""Two answers to one call below each other, cut around the place where they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import Difference, Evidence
from greenloop.reporting.escaping import escape_invisible

_CUT = "… "
_BREAKS = " ,;:=()[]{}'\"/"


@dataclass(frozen=True, slots=True)
class Side:
    """An answer in three parts: `differs` is what the other one does not have there."""

    before: str
    differs: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.differs + self.after


def list_differences(evidence: Evidence) -> tuple[Difference, ...]:
    """Return where code and peer differ, nothing where they were not compared."""
    return evidence.peer.differences if evidence.peer else ()


def compare_sides(first: str, second: str, width: int) -> tuple[Side, Side]:
    """Return two answers in a line each, at most `width` wide, with white space as it is."""
    left, right = _to_line(first), _to_line(second)
    shorter = min(len(left), len(right))
    start = next((n for n in range(shorter) if left[n] != right[n]), shorter)
    room = shorter - start
    tail = next((n for n in range(room) if left[-1 - n] != right[-1 - n]), room)
    return _cut(left, start, tail, width), _cut(right, start, tail, width)


def compare_answers(answers: Sequence[str], width: int) -> tuple[Side, ...]:
    """Return the first answer as it differs from the second, each other as it differs from the first."""
    if len(answers) < 2:
        return tuple(Side(_to_line(answer), "", "") for answer in answers)
    pairs = [compare_sides(answers[0], other, width) for other in answers[1:]]
    return (pairs[0][0], *(other for _, other in pairs))


def render_difference(
    item: Difference, width: int, first: str = "the code", second: str = "second implementation"
) -> Iterator[str]:
    """Yield the call, each answer below it, and marks below what differs."""
    return render_answers(item.call, (first, second), (item.code, item.peer), width)


def render_answers(
    call: str, labels: Sequence[str], answers: Sequence[str], width: int
) -> Iterator[str]:
    """Yield the call, if there is one, each answer below it, and marks below what differs."""
    for line in escape_invisible(call).split("\n") if call else ():
        yield line if len(line) <= width else f"{line[: width - 1]}…"
    column = max(map(len, labels)) + 4
    for label, side in zip(labels, compare_answers(answers, width - column), strict=True):
        yield f"  {label:<{column - 2}}{side.text}"
        if side.differs and len(set(answers)) > 1:
            yield " " * (column + len(side.before)) + "^" * len(side.differs)


def _to_line(text: str) -> str:
    return escape_invisible(text).replace("\n", "⏎").replace("\t", "⇥")


def _cut(text: str, start: int, tail: int, width: int) -> Side:
    """Return the part of a text around its difference, cut between words where there are some."""
    end = len(text) - tail
    if len(text) <= width:
        return Side(text[:start], text[start:end], text[end:])
    begin = _find_break(text, start - width // 3, start) if start > width // 2 else 0
    room = width - len(_CUT) * (1 + bool(begin))
    stop = len(text) if len(text) - begin <= room + len(_CUT) else begin + room
    if stop < len(text):
        stop = _find_last_break(text, min(max(begin + room // 2, start + 1), end), stop)
    rest = " …" if stop < len(text) else ""
    if begin:  # what the words after it leave free
        begin = _find_break(text, stop + len(_CUT + rest) - width, start)
    head, end = _CUT if begin else "", min(end, stop)
    return Side(head + text[begin:start], text[start:end], text[max(start, end) : stop] + rest)


def _find_break(text: str, low: int, high: int) -> int:
    """Return the first place between two that a word begins at, else the lower one."""
    low = max(low, 0)
    return next((n for n in range(low, high + 1) if not n or text[n - 1] in _BREAKS), low)


def _find_last_break(text: str, low: int, high: int) -> int:
    return next((n for n in range(high, low - 1, -1) if text[n - 1] in _BREAKS), high)
