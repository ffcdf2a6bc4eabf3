"""Code lines annotated with coverage, mutants and findings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from greenloop.records import MutantResult, Report, Survivor
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.text import list_survivors
from greenloop.reporting.html.highlighting import Token, highlight_lines

DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400
_HUNK = re.compile(r"@@ -[0-9,]+ \+([0-9]+)")
_MORE = re.compile(r"and (\d+) more")
T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True)
class CodeLine:
    """One line of a module or a patch."""

    number: int  # of the new version, 0 where the line is not in it
    text: str
    coverage: str  # `hit`, `miss`, or '' without a statement or a measurement
    missed_branches: tuple[str, ...]
    detected: tuple[MutantResult, ...]
    survivors: tuple[Survivor, ...]
    remarks: tuple[str, ...]  # findings of the review and of integrity
    kind: str = ""  # of a patch: `file`, `at`, `same`, `add` or `del`
    tests: tuple[str, ...] = ()  # those that run it
    tokens: tuple[Token, ...] = ()

    @property
    def parts(self) -> tuple[Token, ...]:
        """The text, with the kinds of its tokens where they are known."""
        return self.tokens or (("", self.text),)

    @property
    def test_count(self) -> int:
        """How many tests run it: the last entry may be `and 12 more`."""
        more = _MORE.fullmatch(self.tests[-1]) if self.tests else None
        return len(self.tests) - 1 + int(more[1]) if more else len(self.tests)

    @property
    def description(self) -> str:
        """The line's marks in words, for screen readers."""
        if self.tests:
            return f"run by {', '.join(self.tests)}"
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
    """Annotate the final code, or the patch, with the evidence that the report has."""
    if report.change:
        return _annotate_patch(report)
    texts = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    shown = [truncate(text, _MAX_LINE_LENGTH) for text in texts[:_MAX_LINES]]
    tokens = highlight_lines(shown)
    mutation = report.evidence.mutation
    tried = [i for i in (mutation.tried if mutation else ()) if i.outcome in DETECTED_OUTCOMES]
    survived = list_survivors(report.evidence)
    detected = _group((item.line, item) for item in tried)
    survivors = _group((item.line, item) for item in survived)
    coverage, missed = _coverage_by_line(report), _group(_list_missed_branches(report))
    remarks = _group(_find_remarks(report))
    lines = tuple(
        CodeLine(
            number=n,
            text=text,
            coverage=coverage.get(n, ""),
            missed_branches=missed[n],
            detected=detected[n],
            survivors=survivors[n],
            remarks=remarks[n],
            tokens=tokens[n - 1],
        )
        for n, text in enumerate(shown, 1)
    )
    measured = report.evidence.coverage is not None
    left_out = max(0, len(texts) - _MAX_LINES)
    return AnnotatedCode(lines, left_out, measured, len(tried) + len(survived))


def _annotate_patch(report: Report) -> AnnotatedCode:
    lines = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    measured = report.evidence.coverage is not None
    survived = list_survivors(report.evidence)
    shown = tuple(_annotate_patch_lines(report, lines[:_MAX_LINES]))
    return AnnotatedCode(shown, max(0, len(lines) - _MAX_LINES), measured, len(survived))


def _annotate_patch_lines(report: Report, lines: Sequence[str]) -> Iterator[CodeLine]:
    survivors = _group(((i.path, i.line), i) for i in list_survivors(report.evidence))
    coverage = report.evidence.coverage
    missed = coverage.missed_places if coverage else ()
    tests = report.change.tests_by_line if report.change else {}
    path, number = "", 0
    for text in lines:
        kind = _classify_patch_line(text)
        if text.startswith("diff --git "):
            text = path = text.partition(" b/")[2].rstrip()
        elif kind == "file":
            continue
        elif found := _HUNK.match(text):
            number = int(found[1]) - 1
        in_new = kind in ("add", "same")
        number += in_new
        is_missed = kind == "add" and f"{path}:{number}" in missed
        yield CodeLine(
            number=number if in_new else 0,
            text=truncate(text, _MAX_LINE_LENGTH),
            coverage="miss" if is_missed else "",
            missed_branches=(),
            detected=(),
            survivors=survivors[path, number] if in_new else (),
            remarks=(),
            kind=kind,
            tests=tests.get(path, {}).get(number, ()) if kind == "add" else (),
        )


def _classify_patch_line(text: str) -> str:
    if text.startswith(("diff --git ", "--- ", "+++ ", "new file ", "deleted file ")):
        return "file"
    return {"+": "add", "-": "del", "@": "at", "\\": "at"}.get(text[:1], "same")


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


def _list_missed_branches(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the missed branches with the line that they start from: `12->15` as `15`."""
    found = report.evidence.coverage
    for item in found.missed_branches if found else ():
        start, _, end = item.partition("->")
        if start.isdigit():
            yield int(start), end


def _group(pairs: Iterable[tuple[K, T]]) -> defaultdict[K, tuple[T, ...]]:
    groups: defaultdict[K, tuple[T, ...]] = defaultdict(tuple)
    for key, value in pairs:
        groups[key] += (value,)
    return groups
