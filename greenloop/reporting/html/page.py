"""One run as one page: no script, no network, nothing that has to be loaded."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.records import Report, TestEntry, ToolUsage
from greenloop.reporting.escaping import clipped
from greenloop.reporting.evidence.measures import measures, was_graded
from greenloop.reporting.html.attempts import steps_of, told_failures
from greenloop.reporting.html.code import code_of
from greenloop.reporting.html.overview_bar import strip_of
from greenloop.reporting.html.rendering import render
from greenloop.reporting.titles import MEANING, title_of
from greenloop.reporting.traceability import matrix_of, requirement_rows, short_name

_TEXT = 60_000  # characters of a text that is shown whole; report.json has the rest
_LINE = 1000


@dataclass(frozen=True)
class Tally:
    """The tests that count, and how many of them pass; `aside` do not count any more."""

    passed: int
    total: int
    aside: int


@dataclass(frozen=True)
class Spent:
    """What one tool used; `share` is its part of all tokens, between 0 and 1."""

    tool: str
    usage: ToolUsage
    share: float


@dataclass(frozen=True)
class Took:
    """Seconds of one part of the run; `share` of the whole, at most 1."""

    what: str
    seconds: float
    share: float


def report_html(report: Report) -> str:
    """The page. All that came from a model or a test stands in it as text."""
    code = code_of(report)
    return render(
        "report.html",
        report=report,
        title=title_of(report),
        meaning=MEANING[report.verdict],
        tally=_tally(report),
        measures=measures(report.evidence),
        graded=was_graded(report.evidence),
        requirements=requirement_rows(report),
        matrix=matrix_of(report),
        code=code,
        strip=strip_of(code),
        steps=steps_of(report),
        failures=told_failures(report.failures),
        aside=[item for item in report.tests if item.outcome in ("dropped", "invalid")],
        spent=_spent(report),
        took=_took(report),
        bounded=bounded,
        short_name=short_name,
    )


def bounded(text: str) -> str:
    """A text that fits on a page, with its longest lines cut."""
    lines = "\n".join(clipped(line, _LINE) for line in text[:_TEXT].split("\n"))
    more = len(text) - _TEXT
    return lines if more <= 0 else f"{lines}\n… {more} more characters, see report.json"


def _tally(report: Report) -> Tally:
    aside = sum(_is_aside(item) for item in report.tests)
    passed = sum(item.outcome == "passed" for item in report.tests)
    return Tally(passed, len(report.tests) - aside, aside)


def _is_aside(entry: TestEntry) -> bool:
    return entry.outcome in ("dropped", "invalid")


def _spent(report: Report) -> list[Spent]:
    total = max(report.usage.input_tokens + report.usage.output_tokens, 1)
    return [
        Spent(tool, used, (used.input_tokens + used.output_tokens) / total)
        for tool, used in report.usage.by_tool.items()
    ]


def _took(report: Report) -> list[Took]:
    times = report.timings
    whole = max(times.total_s, times.model_s, 0.001)
    parts = (
        ("the whole run", times.total_s),
        ("waiting for the model", times.model_s),
        ("tests in the sandbox", times.sandbox_s),
        ("grading", times.grading_s),
    )
    return [Took(what, spent, min(spent / whole, 1)) for what, spent in parts]
