"""Code lines annotated with coverage, mutants and findings."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]
from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    String,
)

from greenloop.records import MutantResult, Report, Survivor
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.survivors import list_survivors

Token = tuple[str, str]  # the CSS class, '' for plain text, and the text

_CLASSES = {
    *((Name.Decorator, "kw"), (Keyword, "kw"), (Operator.Word, "kw"), (Comment, "co")),
    *((String, "st"), (Number, "nu"), (Name.Function, "na"), (Name.Class, "na")),
}


def highlight_lines(lines: Sequence[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line; () for all if the lexer would break one at a CR character."""
    if any("\r" in line for line in lines):
        return [()] * len(lines)
    found: list[list[Token]] = [[]]
    lexer, classes = PythonLexer(stripnl=False, ensurenl=False), dict[object, str]()
    for kind, text in lexer.get_tokens("\n".join(lines)):
        if kind not in classes:
            classes[kind] = next((name for known, name in _CLASSES if kind in known), "")
        css = classes[kind]
        first, *rest = text.split("\n")
        found[-1].append((css, first))
        found += ([(css, item)] for item in rest)
    return [tuple(_join_alike(line)) for line in found[: len(lines)]]


def _join_alike(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens, with neighbours of the same class merged."""
    for css, run in groupby((item for item in tokens if item[1]), lambda item: item[0]):
        yield css, "".join(text for _, text in run)


_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400
_HUNK = re.compile(r"@@ -[0-9,]+ \+([0-9]+)")
_MORE = re.compile(r"and (\d+) more")
T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of a module or a patch."""

    number: int  # of the new version, 0 where the line is not in it
    text: str
    coverage: str = ""  # `hit`, `miss`, or '' without a statement or a measurement
    missed_branches: tuple[str, ...] = ()
    detected: tuple[MutantResult, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    remarks: tuple[str, ...] = ()  # findings of the review and of integrity
    kind: str = ""  # of a patch: `file`, `at`, `same`, `add` or `del`
    tests: tuple[str, ...] = ()  # those that run the line
    tokens: tuple[Token, ...] = ()

    @property
    def parts(self) -> tuple[Token, ...]:
        """The tokens of the text, or the text as one token without a class."""
        return self.tokens or (("", self.text),)

    @property
    def test_count(self) -> int:
        """The number of tests that run the line; the last entry may be `and 12 more`."""
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


@dataclass(frozen=True, slots=True)
class AnnotatedCode:
    """The lines of a page; `left_out` counts those beyond the limit."""

    lines: tuple[CodeLine, ...]
    left_out: int
    measured: bool
    tried: int


def annotate_code(report: Report) -> AnnotatedCode:
    """Annotate the final code, or the patch, with the evidence that the report has."""
    texts = report.final_code.rstrip("\n").split("\n") if report.final_code.strip() else []
    evidence, annotate = report.evidence, _annotate_patch if report.change else _annotate_module
    mutants = evidence.mutation.tried if evidence.mutation and not report.change else ()
    detected = [item for item in mutants if item.is_noticed]
    return AnnotatedCode(
        lines=tuple(annotate(report, texts[:_MAX_LINES], detected)),
        left_out=max(0, len(texts) - _MAX_LINES),
        measured=evidence.coverage is not None,
        tried=len(detected) + len(list_survivors(evidence)),
    )


def _annotate_module(
    report: Report, texts: Sequence[str], tried: Sequence[MutantResult]
) -> Iterator[CodeLine]:
    shown = [truncate(text, _MAX_LINE_LENGTH) for text in texts]
    detected = _group((item.line, item) for item in tried)
    survivors = _group((item.line, item) for item in list_survivors(report.evidence))
    coverage = _group(_coverage_marks(report))
    missed, remarks = _group(_list_missed_branches(report)), _group(_find_remarks(report))
    for n, (text, tokens) in enumerate(zip(shown, highlight_lines(shown), strict=True), 1):
        yield CodeLine(
            number=n,
            text=text,
            coverage="".join(coverage[n][-1:]),
            missed_branches=missed[n],
            detected=detected[n],
            survivors=survivors[n],
            remarks=remarks[n],
            tokens=tokens,
        )


def _annotate_patch(
    report: Report, lines: Sequence[str], _tried: Sequence[MutantResult]
) -> Iterator[CodeLine]:
    survivors = _group(((i.path, i.line), i) for i in list_survivors(report.evidence))
    coverage = report.evidence.coverage
    missed = coverage.missed_places if coverage else ()
    tests = report.change.tests_by_line if report.change else {}
    path, number, in_hunk = "", 0, False
    for text in lines:
        # Within a hunk, `--- x` is a deleted line `-- x`, and no header.
        in_hunk = text.startswith("@@") or (in_hunk and not text.startswith("diff --git "))
        kind = {"+": "add", "-": "del", "@": "at", "\\": "at"}.get(text[:1], "same")
        kind = kind if in_hunk else "file"
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
            survivors=survivors[path, number] if in_new else (),
            kind=kind,
            tests=tests.get(path, {}).get(number, ()) if kind == "add" else (),
        )


def _find_remarks(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the findings by line; those of the review only if the code has not changed since."""
    for item in report.evidence.integrity:
        yield item.line, f"integrity: {item.what}"
    if report.attempts and report.attempts[0].code == report.final_code:
        for finding in report.review:
            if finding.line is not None:
                yield finding.line, f"review, {finding.severity}: {finding.message}"


def _coverage_marks(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the marks of the lines with statements; the last mark of a line counts."""
    if found := report.evidence.coverage:
        yield from ((line, "hit") for line in found.statements)
        yield from ((line, "miss") for line in found.missed_lines)


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
