"""Code lines annotated with coverage, mutants and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from greenloop.records import MutantResult, Report, Survivor
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.text import list_survivors

DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400
T = TypeVar("T")


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
    survivors: tuple[Survivor, ...]
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
    mutation = report.evidence.mutation
    tried = [i for i in (mutation.tried if mutation else ()) if i.outcome in DETECTED_OUTCOMES]
    survived = list_survivors(report.evidence)
    detected = _group((item.line, item) for item in tried)
    survivors = _group((item.line, item) for item in survived)
    coverage, missed = _coverage_by_line(report), _group(_missed_branches(report))
    remarks = _group(_find_remarks(report))
    lines = tuple(
        CodeLine(
            number=n,
            text=truncate(text, _MAX_LINE_LENGTH),
            coverage=coverage.get(n, ""),
            missed_branches=missed[n],
            detected=detected[n],
            survivors=survivors[n],
            remarks=remarks[n],
        )
        for n, text in enumerate(texts[:_MAX_LINES], 1)
    )
    measured = report.evidence.coverage is not None
    left_out = max(0, len(texts) - _MAX_LINES)
    return AnnotatedCode(lines, left_out, measured, len(tried) + len(survived))


def _find_remarks(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the findings; those of the review only if the code was not changed since."""
    for item in report.evidence.integrity:
        yield item.line, f"integrity: {item.what}"
    if report.attempts and report.attempts[0].code == report.final_code:
        for finding in report.review:
            if finding.line is not None:
                yield finding.line, f"review, {finding.severity}: {finding.message}"


def _coverage_by_line(report: Report) -> dict[int, str]:
    found = report.evidence.coverage
    if found is None:
        return {}
    return dict.fromkeys(found.statements, "hit") | dict.fromkeys(found.missed_lines, "miss")


def _missed_branches(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the missed branches with the line that they start from: `12->15` as `15`."""
    found = report.evidence.coverage
    for item in found.missed_branches if found else ():
        start, _, end = item.partition("->")
        if start.isdigit():
            yield int(start), end


def _group(pairs: Iterable[tuple[int, T]]) -> defaultdict[int, tuple[T, ...]]:
    groups: defaultdict[int, tuple[T, ...]] = defaultdict(tuple)
    for key, value in pairs:
        groups[key] += (value,)
    return groups
