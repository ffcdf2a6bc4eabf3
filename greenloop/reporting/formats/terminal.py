"""The whole report for a terminal: 80 columns, no colour, what foreign code wrote made harmless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from greenloop.records import Report, TestEntry
from greenloop.reporting.escaping import clipped, visible
from greenloop.reporting.evidence.measures import measures, was_graded
from greenloop.reporting.evidence.text import hunk
from greenloop.reporting.summary import counted_as, counts_line
from greenloop.reporting.titles import title_of
from greenloop.reporting.traceability import requirement_rows, short_name

_WIDTH = 80
_LABEL = 13  # columns of what stands before a text that wraps
_MOST = 20
_TEXT = 600


def report_text(report: Report, width: int = _WIDTH) -> str:
    """Verdict and why first; then what fails, evidence, requirements, tests, attempts, cost."""
    paper = _Paper(width)
    sections = (
        _verdict,
        _failures,
        _evidence,
        _survivors,
        _requirements,
        _tests,
        _disputes,
        _review,
        _attempts,
        _cost,
    )
    lines = [line for section in sections for line in section(report, paper)]
    return "\n".join(lines).strip("\n") + "\n"


class _Paper:
    """Lines that are no wider than the paper."""

    def __init__(self, width: int) -> None:
        self._width = width

    def head(self, text: str) -> Iterator[str]:
        yield ""
        yield text.upper()

    def lines(self, texts: Iterable[str], indent: int) -> Iterator[str]:
        """Lines of code as they stand, each cut where the paper ends."""
        most = self._width - indent
        for text in texts:
            shown = visible(text.expandtabs(4)).rstrip()
            yield " " * indent + (shown if len(shown) <= most else f"{shown[: most - 1]}…")

    def row(self, label: str, text: str, indent: int = 2) -> Iterator[str]:
        """A label, and a text that wraps beside it; a long label has its own line."""
        flat = clipped(" ".join(visible(text).split()), _TEXT)
        before = " " * indent
        column = indent + _LABEL if label else indent
        parts = wrap(flat, self._width - column, break_on_hyphens=False) or [""]
        shown = clipped(visible(label), self._width - indent - 12)
        if len(shown) >= _LABEL:
            yield f"{before}{shown}"[: self._width]
            first = " " * column
        else:
            first = f"{before}{shown:<{column - indent}}"
        yield f"{first}{parts[0]}".rstrip()
        yield from (" " * column + part for part in parts[1:])


def _verdict(report: Report, paper: _Paper) -> Iterator[str]:
    title = title_of(report)
    yield f"{report.verdict}: {title}"
    yield from paper.row("", counts_line(report))
    for reason in report.reasons:
        yield from paper.row("not better", reason)
    for label, place in (("page", report.artifacts.html), ("code", report.artifacts.output)):
        if place:
            yield f"  {label:<{_LABEL}}{visible(place)}"


def _failures(report: Report, paper: _Paper) -> Iterator[str]:
    if not report.failures:
        return
    yield from paper.head("what fails")
    for item in report.failures[:_MOST]:
        yield from paper.row("", short_name(item.test))
        yield from paper.row("", f"{item.exception}: {item.message}", indent=6)
    yield from _more(len(report.failures))


def _evidence(report: Report, paper: _Paper) -> Iterator[str]:
    if not was_graded(report.evidence):
        return
    signs = {True: "ok   ", False: "SHORT", None: "--   "}
    yield from paper.head("evidence")
    for item in measures(report.evidence):
        lines = paper.row(item.name, item.text, indent=9)
        yield f"  {signs[item.reached]}  {next(lines).lstrip()}"
        yield from lines


def _survivors(report: Report, paper: _Paper) -> Iterator[str]:
    mutation = report.evidence.mutation
    if not mutation or not mutation.survived:
        return
    yield from paper.head(f"{counted_as(len(mutation.survived), 'fault')} that no test notices")
    for item in mutation.survived[:_MOST]:
        yield from paper.row(f"line {item.line}", item.question)
        yield from paper.lines(hunk(item), indent=2 + _LABEL)
    yield from _more(len(mutation.survived))


def _requirements(report: Report, paper: _Paper) -> Iterator[str]:
    rows = requirement_rows(report, most=0)
    if not rows or report.contract is None:
        return
    yield from paper.head("requirements")
    for item in rows:
        yield from paper.row(item.id, f"{item.text} [{item.passed}/{item.total}]")
    for text in report.contract.assumptions:
        yield from paper.row("assumed", text)


def _tests(report: Report, paper: _Paper) -> Iterator[str]:
    if not report.tests:
        return
    yield from paper.head("tests")
    for item in report.tests:
        yield from paper.row(item.outcome, f"{short_name(item.id)} {_about(item)}".rstrip())
        if item.judgement:
            yield from paper.row("", item.judgement, indent=2 + _LABEL)


def _about(item: TestEntry) -> str:
    said = [*item.requirements, *([item.origin] if item.origin != "generated" else [])]
    return f"[{', '.join(said)}]" if said else ""


def _disputes(report: Report, paper: _Paper) -> Iterator[str]:
    if not report.disputes:
        return
    yield from paper.head("disputes")
    for item in report.disputes:
        ends = "the test is wrong and was dropped" if item.wrong == "test" else "the test stands"
        yield from paper.row("", f"{short_name(item.test)}: {ends}")
        yield from paper.row("claim", item.why)
        yield from paper.row("judge", item.because)


def _review(report: Report, paper: _Paper) -> Iterator[str]:
    if not report.review:
        return
    yield from paper.head("review")
    for item in report.review:
        where = f" line {item.line}" if item.line is not None else ""
        done = " (repaired)" if item.resolved else ""
        yield from paper.row(f"{item.severity}{where}", f"{item.message}{done}")


def _attempts(report: Report, paper: _Paper) -> Iterator[str]:
    if not report.attempts:
        return
    yield from paper.head("attempts")
    for item in report.attempts:
        ran = f"{item.passed} passed, {item.failed} failed, {item.errors} errors"
        told = "not run" if item.passed is None else ran
        remark = f"; {item.remark}" if item.remark else ""
        yield from paper.row(f"{item.n} {item.kind}", f"{told}, {item.tokens} tokens{remark}")


def _cost(report: Report, paper: _Paper) -> Iterator[str]:
    yield from paper.head("made with")
    made, times = report.environment, report.timings
    yield from paper.row("model", made.model)
    yield from paper.row("sandbox", f"{made.sandbox.backend} ({made.sandbox.isolation})")
    yield from paper.row(
        "seconds",
        f"{times.total_s:.1f} in all, {times.model_s:.1f} model, {times.sandbox_s:.1f} tests, "
        f"{times.grading_s:.1f} grading",
    )
    for tool, used in report.usage.by_tool.items():
        cost = "" if used.cost_usd is None else f", ${used.cost_usd:.4f}"
        tokens = f"{used.input_tokens} + {used.output_tokens} tokens{cost}"
        yield f"  {visible(tool):<22}{counted_as(used.calls, 'call')}, {tokens}"


def _more(count: int) -> Iterator[str]:
    if count > _MOST:
        yield f"  and {count - _MOST} more, see the page or report.json"
