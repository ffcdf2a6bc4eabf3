"""The code, line by line, with what the tests reach and what they notice there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from greenloop.records import Report, TriedMutant
from greenloop.reporting.escaping import clipped
from greenloop.reporting.evidence.text import changed_line

NOTICED = ("killed", "timeout", "crashed")
_ALIVE = ("survived", "uncovered")
_MOST_LINES = 4000
_LINE = 400


@dataclass(frozen=True)
class Alive:
    """A mutant that no test noticed: the line as it was then, and what a test would have to ask."""

    changed: str
    question: str
    reached: bool


@dataclass(frozen=True)
class CodeLine:
    """One line. `reach` is `hit`, `miss`, or '' where no statement begins (or nobody measured).

    `never` names the branches from it that were never taken; `noticed` and `alive` are its mutants,
    `remarks` what else was found there.
    """

    n: int
    text: str
    reach: str
    never: tuple[str, ...]
    noticed: tuple[TriedMutant, ...]
    alive: tuple[Alive, ...]
    remarks: tuple[str, ...]

    @property
    def said(self) -> str:
        """The line's marks in words, for those who do not see colours."""
        parts = {"hit": ["reached"], "miss": ["never reached"], "": []}[self.reach]
        parts = parts + [f"{len(self.noticed)} faults noticed"] * bool(self.noticed)
        return ", ".join(parts + [f"{len(self.alive)} faults survived"] * bool(self.alive))


@dataclass(frozen=True)
class Code:
    """All lines that are shown; `left_out` are not."""

    lines: tuple[CodeLine, ...]
    left_out: int
    measured: bool
    tried: int


def code_of(report: Report) -> Code:
    """The final code with its evidence; older reports have less of it."""
    texts = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    noticed, alive, remarks = _noticed(report), _alive(report), _remarks(report)
    reach, never = _reach(report), _never(report)
    lines = tuple(
        CodeLine(
            n=n,
            text=clipped(text, _LINE),
            reach=reach.get(n, ""),
            never=tuple(never.get(n, ())),
            noticed=tuple(noticed.get(n, ())),
            alive=tuple(alive.get(n, ())),
            remarks=tuple(remarks.get(n, ())),
        )
        for n, text in enumerate(texts[:_MOST_LINES], 1)
    )
    left_out, tried = max(0, len(texts) - _MOST_LINES), sum(map(len, noticed.values()))
    measured = report.evidence.coverage is not None
    return Code(lines, left_out, measured, tried + sum(map(len, alive.values())))


def _noticed(report: Report) -> Mapping[int, list[TriedMutant]]:
    mutation = report.evidence.mutation
    tried = mutation.tried if mutation else ()
    return _grouped((item.line, item) for item in tried if item.outcome in NOTICED)


def _alive(report: Report) -> Mapping[int, list[Alive]]:
    mutation = report.evidence.mutation
    survived = mutation.survived if mutation else ()
    return _grouped(
        (item.line, Alive(clipped(changed_line(item), _LINE), item.question, item.reached))
        for item in survived
    )


def _remarks(report: Report) -> Mapping[int, list[str]]:
    """Findings; the review's only where the code is still the one that was reviewed."""
    found = [(item.line, f"integrity: {item.what}") for item in report.evidence.integrity]
    if report.attempts and report.attempts[0].code == report.final_code:
        found += [
            (item.line, f"review, {item.severity}: {item.message}")
            for item in report.review
            if item.line is not None
        ]
    return _grouped(found)


def _reach(report: Report) -> dict[int, str]:
    found = report.evidence.coverage
    if found is None:
        return {}
    return dict.fromkeys(found.statements, "hit") | dict.fromkeys(found.missed_lines, "miss")


def _never(report: Report) -> Mapping[int, list[str]]:
    """Branches by the line that they start from: `12->15` is told as `15`."""
    found = report.evidence.coverage
    pairs = (item.partition("->") for item in (found.missed_branches if found else ()))
    return _grouped((int(start), end) for start, _, end in pairs if start.isdigit())


def _grouped(pairs: Iterable[tuple[int, object]]) -> Mapping[int, list]:  # type: ignore[type-arg]
    groups: dict[int, list[object]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
