"""Code lines annotated with coverage, mutants and findings."""

from __future__ import annotations

import keyword
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from greenloop.records import MutantResult, Report, Survivor
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.survivors import list_survivors

Token = tuple[str, str]  # the CSS class, '' for plain text, and the text
_Span = tuple[int, int, str]  # first column, the column behind the last, and the CSS class

# Kinds of tokens that have a colour whatever stands before them; f-strings have parts since 3.12.
_CLASSES = {"STRING": "st", "NUMBER": "nu", "COMMENT": "co"}
_CLASSES |= dict.fromkeys(("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "st")
_DEFINITIONS = ("def", "class")
_LINE_STARTS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def highlight_lines(lines: Sequence[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line; () where the lines are not Python."""
    spans: list[list[_Span]] = [[] for _ in lines]
    try:
        for css, token in _classify(lines):
            _add_spans(spans, lines, css, token)
    except (tokenize.TokenError, SyntaxError, SystemError):  # the last: NUL in CPython 3.12
        return [()] * len(lines)
    return [tuple(_split_line(line, found)) for line, found in zip(lines, spans, strict=True)]


def _classify(lines: Sequence[str]) -> Iterator[tuple[str, tokenize.TokenInfo]]:
    """Yield the tokens that have a colour, with their classes."""
    source = iter([f"{line}\n" for line in lines])
    last, is_line_start, is_decorator = "", True, False
    for token in tokenize.generate_tokens(lambda: next(source, "")):
        begins = is_line_start and token.string == "@"
        is_decorator = begins or (is_decorator and (token.string == "." or last in ("@", ".")))
        css = _CLASSES.get(tokenize.tok_name[token.type], "")
        if is_decorator or keyword.iskeyword(token.string):
            css = "kw"
        elif last in _DEFINITIONS:
            css = "na"
        if css:
            yield css, token
        last, is_line_start = token.string, token.type in _LINE_STARTS


def _add_spans(
    spans: list[list[_Span]], lines: Sequence[str], css: str, token: tokenize.TokenInfo
) -> None:
    """Add what the token covers of each of its lines."""
    (first, start), (last, end) = token.start, token.end
    for row in range(first, min(last, len(lines)) + 1):
        begins = start if row == first else 0
        spans[row - 1].append((begins, end if row == last else len(lines[row - 1]), css))


def _split_line(line: str, spans: Sequence[_Span]) -> Iterator[Token]:
    """Yield the parts of a line, with and without a colour; together they are the line."""
    done = 0
    for start, end, css in [*spans, (len(line), len(line), "")]:
        if done < start:
            yield "", line[done:start]
        if start < end:
            yield css, line[start:end]
        done = end


DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_MAX_LINES = 4000
_MAX_LINE_LENGTH = 400
_HEADERS = ("diff --git ", "--- ", "+++ ", "new file ", "deleted file ")
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
    detected = [item for item in mutants if item.outcome in DETECTED_OUTCOMES]
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
    path, number = "", 0
    for text in lines:
        kind = {"+": "add", "-": "del", "@": "at", "\\": "at"}.get(text[:1], "same")
        kind = "file" if text.startswith(_HEADERS) else kind
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
    """Yield the findings; those of the review only if the code was not changed since."""
    for item in report.evidence.integrity:
        yield item.line, f"integrity: {item.what}"
    if report.attempts and report.attempts[0].code == report.final_code:
        for finding in report.review:
            if finding.line is not None:
                yield finding.line, f"review, {finding.severity}: {finding.message}"


def _coverage_marks(report: Report) -> Iterator[tuple[int, str]]:
    """Yield the lines with statements; the last mark of a line counts."""
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
