"""The code, line by line, with what the tests reach and what they notice there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from greenloop.records import MutantResult, Report
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.text import mutated_line

DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_SURVIVING_OUTCOMES = ("survived", "uncovered")
_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400


@dataclass(frozen=True)
class SurvivingMutant:
    """A mutant that no test noticed: the line as it was then, and what a test would have to ask."""

    mutated_line: str
    question: str
    reached: bool


@dataclass(frozen=True)
class CodeLine:
    """One line. `reach` is `hit`, `miss`, or '' where no statement begins (or nobody measured).

    `never` names the branches from it that were never taken; `noticed` and `alive` are its mutants,
    `remarks` what else was found there.
    """

    number: int
    text: str
    coverage: str
    missed_branches: tuple[str, ...]
    detected: tuple[MutantResult, ...]
    survivors: tuple[SurvivingMutant, ...]
    remarks: tuple[str, ...]

    @property
    def description(self) -> str:
        """The line's marks in words, for those who do not see colours."""
        parts = {"hit": ["reached"], "miss": ["never reached"], "": []}[self.coverage]
        parts = parts + [f"{len(self.detected)} faults noticed"] * bool(self.detected)
        return ", ".join(parts + [f"{len(self.survivors)} faults survived"] * bool(self.survivors))


@dataclass(frozen=True)
class AnnotatedCode:
    """All lines that are shown; `left_out` are not."""

    lines: tuple[CodeLine, ...]
    left_out: int
    measured: bool
    tried: int


def annotate_code(report: Report) -> AnnotatedCode:
    """The final code with its evidence; older reports have less of it."""
    texts = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    noticed, alive, remarks = (
        _detected_by_line(report),
        _survivors_by_line(report),
        _remarks_by_line(report),
    )
    reach, never = _coverage_by_line(report), _missed_branches_by_line(report)
    lines = tuple(
        CodeLine(
            number=n,
            text=truncate(text, _MAX_LINE_LENGTH),
            coverage=reach.get(n, ""),
            missed_branches=tuple(never.get(n, ())),
            detected=tuple(noticed.get(n, ())),
            survivors=tuple(alive.get(n, ())),
            remarks=tuple(remarks.get(n, ())),
        )
        for n, text in enumerate(texts[:_MAX_LINES], 1)
    )
    left_out, tried = max(0, len(texts) - _MAX_LINES), sum(map(len, noticed.values()))
    measured = report.evidence.coverage is not None
    return AnnotatedCode(lines, left_out, measured, tried + sum(map(len, alive.values())))


def _detected_by_line(report: Report) -> Mapping[int, list[MutantResult]]:
    mutation = report.evidence.mutation
    tried = mutation.tried if mutation else ()
    return _group_by_key((item.line, item) for item in tried if item.outcome in DETECTED_OUTCOMES)


def _survivors_by_line(report: Report) -> Mapping[int, list[SurvivingMutant]]:
    mutation = report.evidence.mutation
    survived = mutation.survived if mutation else ()
    return _group_by_key(
        (
            item.line,
            SurvivingMutant(
                truncate(mutated_line(item), _MAX_LINE_LENGTH), item.question, item.reached
            ),
        )
        for item in survived
    )


def _remarks_by_line(report: Report) -> Mapping[int, list[str]]:
    """Findings; the review's only where the code is still the one that was reviewed."""
    found = [(item.line, f"integrity: {item.what}") for item in report.evidence.integrity]
    if report.attempts and report.attempts[0].code == report.final_code:
        found += [
            (item.line, f"review, {item.severity}: {item.message}")
            for item in report.review
            if item.line is not None
        ]
    return _group_by_key(found)


def _coverage_by_line(report: Report) -> dict[int, str]:
    found = report.evidence.coverage
    if found is None:
        return {}
    return dict.fromkeys(found.statements, "hit") | dict.fromkeys(found.missed_lines, "miss")


def _missed_branches_by_line(report: Report) -> Mapping[int, list[str]]:
    """Branches by the line that they start from: `12->15` is told as `15`."""
    found = report.evidence.coverage
    pairs = (item.partition("->") for item in (found.missed_branches if found else ()))
    return _group_by_key((int(start), end) for start, _, end in pairs if start.isdigit())


def _group_by_key(pairs: Iterable[tuple[int, object]]) -> Mapping[int, list]:  # type: ignore[type-arg]
    groups: dict[int, list[object]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
