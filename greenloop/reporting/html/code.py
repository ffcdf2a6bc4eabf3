"""Code lines annotated with coverage, mutants and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from greenloop.records import MutantResult, Report
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.text import mutated_line

DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400


@dataclass(frozen=True)
class SurvivingMutant:
    """A mutant that no test detected, and the question that a test would have to answer."""

    mutated_line: str
    question: str
    reached: bool


@dataclass(frozen=True)
class CodeLine:
    """One line. `coverage` is `hit`, `miss`, or '' without a statement or a measurement.

    `detected` and `survivors` are its mutants, `remarks` the review's and integrity findings.
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
        """The line's marks in words, for screen readers."""
        parts = {"hit": ["reached"], "miss": ["never reached"], "": []}[self.coverage]
        parts = parts + [f"{len(self.detected)} mutants detected"] * bool(self.detected)
        return ", ".join(parts + [f"{len(self.survivors)} mutants survived"] * bool(self.survivors))


@dataclass(frozen=True)
class AnnotatedCode:
    """The lines of a page; `left_out` counts those beyond the limit."""

    lines: tuple[CodeLine, ...]
    left_out: int
    measured: bool
    tried: int


def annotate_code(report: Report) -> AnnotatedCode:
    """Annotate the final code with the evidence that the report has."""
    texts = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    detected, survivors = _detected_by_line(report), _survivors_by_line(report)
    coverage, missed = _coverage_by_line(report), _missed_branches_by_line(report)
    remarks = _remarks_by_line(report)
    lines = tuple(
        CodeLine(
            number=n,
            text=truncate(text, _MAX_LINE_LENGTH),
            coverage=coverage.get(n, ""),
            missed_branches=tuple(missed.get(n, ())),
            detected=tuple(detected.get(n, ())),
            survivors=tuple(survivors.get(n, ())),
            remarks=tuple(remarks.get(n, ())),
        )
        for n, text in enumerate(texts[:_MAX_LINES], 1)
    )
    tried = sum(len(found) for groups in (detected, survivors) for found in groups.values())
    measured = report.evidence.coverage is not None
    return AnnotatedCode(lines, max(0, len(texts) - _MAX_LINES), measured, tried)


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
    """Return the findings; those of the review only if the code was not changed since."""
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
    """Return the missed branches by the line that they start from: `12->15` as `15`."""
    found = report.evidence.coverage
    pairs = (item.partition("->") for item in (found.missed_branches if found else ()))
    return _group_by_key((int(start), end) for start, _, end in pairs if start.isdigit())


def _group_by_key(pairs: Iterable[tuple[int, object]]) -> Mapping[int, list]:  # type: ignore[type-arg]
    groups: dict[int, list[object]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
