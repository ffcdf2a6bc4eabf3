"""The whole module as one small picture: faults noticed above the line, survivors below it."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.reporting.html.code import Code, CodeLine

_ROOM = 56.0  # height of all faults, those above the middle and those below it
_MIDDLE = 4.0  # height of the middle, where coverage is
_LEAST = 6  # faults that fill the room, where there are no more


@dataclass(frozen=True)
class Bar:
    """A rectangle; `kind` is `noticed`, `alive`, `hit` or `miss`."""

    x: int
    y: float
    height: float
    kind: str


@dataclass(frozen=True)
class Strip:
    """All bars, in a picture `width` × `height`, one unit a line."""

    bars: tuple[Bar, ...]
    width: int
    height: float
    noticed: int
    alive: int
    missed: int


def strip_of(code: Code) -> Strip | None:
    """The picture, or None where nothing was measured."""
    if not code.lines or not (code.measured or code.tried):
        return None
    above = max((len(line.noticed) for line in code.lines), default=0)
    below = max((len(line.alive) for line in code.lines), default=0)
    unit = _ROOM / max(above + below, _LEAST)
    middle = round(above * unit + 1, 2)
    return Strip(
        bars=tuple(bar for line in code.lines for bar in _bars(line, unit, middle)),
        width=max(len(code.lines), 20),
        height=round(middle + _MIDDLE + 1 + below * unit, 2),
        noticed=sum(len(line.noticed) for line in code.lines),
        alive=sum(len(line.alive) for line in code.lines),
        missed=sum(line.reach == "miss" for line in code.lines),
    )


def _bars(line: CodeLine, unit: float, middle: float) -> list[Bar]:
    bars, x = [], line.n - 1
    if line.reach:
        bars.append(Bar(x, middle, _MIDDLE, line.reach))
    if line.noticed:
        height = round(len(line.noticed) * unit, 2)
        bars.append(Bar(x, round(middle - 1 - height, 2), height, "noticed"))
    if line.alive:
        height = round(len(line.alive) * unit, 2)
        bars.append(Bar(x, round(middle + _MIDDLE + 1, 2), height, "alive"))
    return bars
