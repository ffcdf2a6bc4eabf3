"""HTML page of a report: one file without scripts or network access."""

from collections.abc import Iterable
from typing import Any

from greenloop.records import Report, TestEntry
from greenloop.records.contract import LEFT_OPEN
from greenloop.reporting.escaping import truncate
from greenloop.reporting.evidence.choices import ADVICE, split_reasons
from greenloop.reporting.evidence.differences import compare_answers, list_differences
from greenloop.reporting.evidence.survivors import build_survivor_row
from greenloop.reporting.evidence.text import find_remedy
from greenloop.reporting.html.attempts import build_attempt_views
from greenloop.reporting.html.code import annotate_code
from greenloop.reporting.html.rendering import render
from greenloop.reporting.summary import (
    describe_cost,
    describe_unread_choices,
    describe_verdict,
    format_answered,
    report_title,
)
from greenloop.reporting.traceability import (
    build_requirement_rows,
    build_text_parts,
    classify_outcome,
    list_evidence_rows,
    names_no_requirement,
    short_name,
    trace_report,
)

_MAX_TEXT_LENGTH = 60_000  # characters; report.json has the rest
_MAX_LINE_LENGTH = 1000
_MAX_FAILURES = 30
_MAX_TESTS, _MAX_SQUARES = 400, 120  # in the table of tests, and beside one requirement
_FIRST_FAILURES, _STEP_FAILURES = 3, 8  # beside the verdict, and of one attempt
_MAX_OPEN_DIFF_LINES = 80  # a longer diff is collapsed
_MAX_OPEN_LINES = 120  # longer code is folded


def render_report_html(report: Report) -> str:
    """Return the page. Text from models and tests is escaped."""
    code, trace = annotate_code(report), trace_report(report)
    reasons, questions = split_reasons(report)
    return render(
        "report.html",
        report=report,
        title=report_title(report),
        meaning=describe_verdict(report),
        tests=_count(item for item in report.tests if item.origin != "held_out"),
        held_out=_count(item for item in report.tests if item.origin == "held_out"),
        unknown_cost=describe_cost(report).removeprefix("cost "),
        first_failures=_FIRST_FAILURES,
        folded_lines=_MAX_OPEN_LINES,
        measures=tuple(list_evidence_rows(report, trace)),
        graded=report.evidence.is_graded,
        text_parts=build_text_parts(trace),
        anchors={item.id: f"test-{number}" for number, item in enumerate(report.tests, 1)},
        requirements=build_requirement_rows(report),
        shown_tests=_select_tests(report),
        max_squares=_MAX_SQUARES,
        state=classify_outcome,
        code=code,
        differences=list_differences(report.evidence),
        steps=build_attempt_views(report),
        step_failures=_STEP_FAILURES,
        open_diff_lines=_MAX_OPEN_DIFF_LINES,
        failures=report.failures[:_MAX_FAILURES],
        aside=[item for item in report.tests if not item.is_active],
        all_tokens=max(report.usage.input_tokens + report.usage.output_tokens, 1),
        took=_list_phase_durations(report),
        answered=format_answered,
        unread_choices=describe_unread_choices(report),
        bounded=truncate_text,
        remedy=find_remedy,
        compare_answers=compare_answers,
        reasons=reasons,
        questions=questions,
        advice=ADVICE,
        left_open=LEFT_OPEN,
        survivor_row=build_survivor_row,
        short_name=short_name,
        no_requirement=names_no_requirement,
    )


def _select_tests(report: Report) -> list[TestEntry]:
    """Return at most `_MAX_TESTS` tests; if there are more, those that did not pass come first."""
    if len(report.tests) <= _MAX_TESTS:
        return list(report.tests)
    return sorted(report.tests, key=lambda item: item.outcome == "passed")[:_MAX_TESTS]


def truncate_text(text: str) -> str:
    """Return a text that is cut to the page's limits of characters and line length."""
    lines = "\n".join(
        truncate(line, _MAX_LINE_LENGTH) for line in text[:_MAX_TEXT_LENGTH].split("\n")
    )
    more = len(text) - _MAX_TEXT_LENGTH
    return lines if more <= 0 else f"{lines}\n… {more} more characters, see report.json"


def _count(entries: Iterable[TestEntry]) -> dict[str, int]:
    """Return the numbers of passed and of active tests."""
    active = [item.outcome == "passed" for item in entries if item.is_active]
    return {"passed": sum(active), "active": len(active)}


def _list_phase_durations(report: Report) -> list[dict[str, Any]]:
    """Return the name, the seconds and the share of the whole run (at most 1) of each phase."""
    times = report.timings
    whole = max(times.total_s, times.model_s, 0.001)
    phases = {
        "the whole run": times.total_s,
        "waiting for the model": times.model_s,
        "tests in the sandbox": times.sandbox_s,
        "grading": times.grading_s,
    }
    return [{"phase": k, "seconds": s, "share": min(s / whole, 1)} for k, s in phases.items()]
