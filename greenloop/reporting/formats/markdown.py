"""A short summary in Markdown, for a pull request or `$GITHUB_STEP_SUMMARY`.

What a model or a test wrote stands in it as text: no HTML, link, image or mention comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.records import Report
from greenloop.reporting.escaping import clipped, visible
from greenloop.reporting.evidence.measures import measures, was_graded
from greenloop.reporting.evidence.text import changed_line
from greenloop.reporting.summary import counts_line
from greenloop.reporting.titles import SIGN, title_of
from greenloop.reporting.traceability import requirement_rows, short_name

_MOST = 20
_TEXT = 300
_WHOLE = 60_000  # a comment on GitHub takes 65,536 characters
_SPECIAL = re.compile(r"([\\`*_\[\]#|<>~&$]|^[-+=]|(?<=^[0-9])[.)])")
_NO_LINK = "\u2060"  # a word joiner: not seen, and no link or mention goes over it


def markdown(report: Report) -> str:
    """Verdict, reasons, evidence; the rest is folded."""
    text = "\n".join(_lines(report)) + "\n"
    if len(text) > _WHOLE:
        text = "\n".join([*_head(report), "", *_evidence(report)]) + "\n"
    return text[:_WHOLE]


def _lines(report: Report) -> Iterator[str]:
    yield from _head(report)
    yield from _evidence(report)
    yield from _failures(report)
    yield from _survivors(report)
    yield from _disputes(report)
    yield from _requirements(report)


def _head(report: Report) -> Iterator[str]:
    yield f"## {SIGN[report.verdict]} {report.verdict}: {code(title_of(report))}"
    yield ""
    yield plain(counts_line(report))
    if report.reasons:
        yield ""
        yield "Not better because:"
        yield ""
        yield from (f"- {plain(reason)}" for reason in report.reasons[:_MOST])


def _evidence(report: Report) -> Iterator[str]:
    """A table of what was measured."""
    if not was_graded(report.evidence):
        return
    signs = {True: "✓", False: "✗", None: "–"}
    yield ""
    yield "| | evidence | came to |"
    yield "|---|---|---|"
    for item in measures(report.evidence):
        yield f"| {signs[item.reached]} | {item.name} | {plain(item.text)} |"


def _failures(report: Report) -> Iterator[str]:
    lines = [
        f"- {code(short_name(item.test))}: {plain(f'{item.exception}: {item.message}')}"
        for item in report.failures
    ]
    yield from _folded("test that fails", "tests that fail", lines)


def _survivors(report: Report) -> Iterator[str]:
    mutation = report.evidence.mutation
    lines = [
        f"- line {item.line} as {code(changed_line(item))}: {plain(item.question)}"
        for item in (mutation.survived if mutation else ())
    ]
    yield from _folded("fault that no test notices", "faults that no test notices", lines)


def _disputes(report: Report) -> Iterator[str]:
    ends = {"test": "wrong, dropped", "code": "stands"}
    lines = [
        f"- {code(item.test)} ({ends[item.wrong]}): {plain(item.because)}"
        for item in report.disputes
    ]
    yield from _folded("disputed test", "disputed tests", lines)


def _requirements(report: Report) -> Iterator[str]:
    lines = [
        f"- **{item.id}** {plain(item.text)} ({item.passed} of {item.total} tests pass)"
        for item in requirement_rows(report, most=0)
    ]
    yield from _folded("requirement", "requirements", lines, most=60)


def _folded(one: str, many: str, lines: list[str], most: int = _MOST) -> Iterator[str]:
    if not lines:
        return
    yield ""
    yield f"<details><summary>{len(lines)} {one if len(lines) == 1 else many}</summary>"
    yield ""
    yield from lines[:most]
    if len(lines) > most:
        yield f"- and {len(lines) - most} more, see the report"
    yield ""
    yield "</details>"


def plain(text: str) -> str:
    """A text in one line that Markdown leaves as it is."""
    flat = clipped(" ".join(visible(text).split()), _TEXT)
    escaped = _SPECIAL.sub(r"\\\1", flat)
    escaped = re.sub(r"@(?=\w)", f"@{_NO_LINK}", escaped)
    escaped = re.sub(r"(?i)(https?|ftp|mailto|xmpp)(:)", rf"\1{_NO_LINK}\2", escaped)
    return re.sub(r"(?i)\bwww\.", f"www{_NO_LINK}.", escaped)


def code(text: str) -> str:
    """A text in one line as a code span, also in a table."""
    flat = clipped(" ".join(visible(text).split()), _TEXT).replace("|", "¦")
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    room = " " if flat.startswith("`") or flat.endswith("`") or not flat else ""
    return f"{fence}{room}{flat}{room}{fence}"
