"""One run as one page: no script, no network, nothing that has to be loaded."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.records import Report, TestEntry, ToolUsage
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.measures import build_measures, has_grading_evidence
from greenloop.reporting.html.attempts import build_attempt_views, build_failure_views
from greenloop.reporting.html.code import annotate_code
from greenloop.reporting.html.overview_bar import build_overview_bar
from greenloop.reporting.html.rendering import render
from greenloop.reporting.titles import VERDICT_MEANINGS, report_title
from greenloop.reporting.traceability import (
    build_requirement_rows,
    build_traceability_matrix,
    short_name,
)

_MAX_TEXT_LENGTH = 60_000  # characters of a text that is shown whole; report.json has the rest
_MAX_LINE_LENGTH = 1000


@dataclass(frozen=True)
class TestCounts:
    """The tests that count, and how many of them pass; `aside` do not count any more."""

    passed: int
    total: int
    excluded: int


@dataclass(frozen=True)
class ToolSpending:
    """What one tool used; `share` is its part of all tokens, between 0 and 1."""

    tool: str
    usage: ToolUsage
    share: float


@dataclass(frozen=True)
class PhaseDuration:
    """Seconds of one part of the run; `share` of the whole, at most 1."""

    phase: str
    seconds: float
    share: float


def render_report_html(report: Report) -> str:
    """The page. All that came from a model or a test stands in it as text."""
    code = annotate_code(report)
    return render(
        "report.html",
        report=report,
        title=report_title(report),
        meaning=VERDICT_MEANINGS[report.verdict],
        tally=_count_tests(report),
        measures=build_measures(report.evidence),
        graded=has_grading_evidence(report.evidence),
        requirements=build_requirement_rows(report),
        matrix=build_traceability_matrix(report),
        code=code,
        strip=build_overview_bar(code),
        steps=build_attempt_views(report),
        failures=build_failure_views(report.failures),
        aside=[item for item in report.tests if item.outcome in ("dropped", "invalid")],
        spent=_list_tool_spending(report),
        took=_list_phase_durations(report),
        bounded=truncate_text,
        short_name=short_name,
    )


def truncate_text(text: str) -> str:
    """A text that fits on a page, with its longest lines cut."""
    lines = "\n".join(
        truncate(line, _MAX_LINE_LENGTH) for line in text[:_MAX_TEXT_LENGTH].split("\n")
    )
    more = len(text) - _MAX_TEXT_LENGTH
    return lines if more <= 0 else f"{lines}\n… {more} more characters, see report.json"


def _count_tests(report: Report) -> TestCounts:
    aside = sum(_is_excluded(item) for item in report.tests)
    passed = sum(item.outcome == "passed" for item in report.tests)
    return TestCounts(passed, len(report.tests) - aside, aside)


def _is_excluded(entry: TestEntry) -> bool:
    return entry.outcome in ("dropped", "invalid")


def _list_tool_spending(report: Report) -> list[ToolSpending]:
    total = max(report.usage.input_tokens + report.usage.output_tokens, 1)
    return [
        ToolSpending(tool, used, (used.input_tokens + used.output_tokens) / total)
        for tool, used in report.usage.by_tool.items()
    ]


def _list_phase_durations(report: Report) -> list[PhaseDuration]:
    times = report.timings
    whole = max(times.total_s, times.model_s, 0.001)
    parts = (
        ("the whole run", times.total_s),
        ("waiting for the model", times.model_s),
        ("tests in the sandbox", times.sandbox_s),
        ("grading", times.grading_s),
    )
    return [PhaseDuration(what, spent, min(spent / whole, 1)) for what, spent in parts]
