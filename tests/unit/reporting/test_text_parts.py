"""The specification with its passages, and the row of the text among the evidence."""

from typing import Any

from greenloop.records import Background, Contract, Evidence, Report, Requirement, TestEntry
from greenloop.reporting.formats.junit import render_junit
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.html.page import render_report_html
from greenloop.reporting.traceability import build_text_parts, list_evidence_rows, trace_report
from tests.support.reports import HOSTILE, build_check_report, build_make_report

TEXT = (
    "Hello.\r\nSum **the sizes**, but skip “dots”.\r\n\r\nWe are old. Add a table.\r\nf(1) -> 2\r\n"
)
CONTRACT = Contract(
    module="m",
    summary="s",
    interface="def f(x): ...",
    requirements=(
        Requirement(id="R1", text="t", quotes=("Sum the sizes",)),
        Requirement(id="R2", text="t", quotes=('but skip "dots"', "Sum the sizes, but")),
    ),
    background=(Background(quote="We are old."),),
    not_covered=("Add a table.", "a second file"),
    unquoted=("Hello",),
)


def build_traced_report(**changes: Any) -> Report:
    return build_make_report(specification=TEXT, contract=CONTRACT, **changes)


def test_parts_are_the_whole_text_with_what_each_was_taken_for() -> None:
    parts = build_text_parts(trace_report(build_traced_report()))
    assert "".join(part.text for part in parts) == TEXT.replace("\r\n", "\n")
    assert [(part.text, part.kinds) for part in parts if part.kinds] == [
        ("Hello", ("unquoted",)),
        ("Sum **the sizes", ("R1", "R2")),
        ("but skip “dots", ("R2",)),
        ("We are old", ("background",)),
        ("Add a table", ("not covered",)),
        ("f(1) -> 2", ("example",)),
    ]
    assert [part.state for part in parts if part.kinds][-2:] == ["not-covered", "example"]


def test_row_counts_words_and_names_what_is_left() -> None:
    row = next(list_evidence_rows(build_traced_report()))
    assert (row.name, row.state, row.brief) == ("text", "short", "94%")
    assert row.text == (
        "94% of 17 words in quotes, background and examples, 1 passage that no requirement covers, "
        "2 things that one module cannot provide"
    )
    complete = CONTRACT.model_copy(update={"unquoted": (), "not_covered": ()})
    assert next(
        list_evidence_rows(build_make_report(specification=TEXT, contract=complete))
    ).reached


def test_row_is_in_every_format() -> None:
    report, words = build_traced_report(), "of 17 words"
    for page in (render_markdown(report), render_report_html(report), render_junit(report)):
        assert words in page


def test_reports_without_a_traced_text_have_no_parts() -> None:
    plain = tuple(Requirement(id=item.id, text=item.text) for item in CONTRACT.requirements)
    untraced = build_make_report(
        contract=CONTRACT.model_copy(update={"requirements": plain, "unquoted": ()})
    )
    for report in (untraced, build_check_report(), build_make_report(contract=None)):
        assert build_text_parts(trace_report(report)) == ()
        assert [row.name for row in list_evidence_rows(report)][:1] != ["text"]
    assert 'href="#text"' not in render_report_html(untraced)


def test_page_links_passages_to_requirements_and_these_to_tests() -> None:
    page = render_report_html(build_traced_report())
    assert (
        '<mark class="asked">Sum **the sizes<a href="#R1">R1</a><a href="#R2">R2</a></mark>' in page
    )
    assert '<div class="req" id="R1">' in page
    assert '<a href="#test-1" class="ok"' in page
    assert '<tr id="test-1">' in page


def test_hostile_quotes_are_escaped() -> None:
    contract = CONTRACT.model_copy(
        update={"unquoted": (HOSTILE,), "background": (Background(quote=HOSTILE, reason=HOSTILE),)}
    )
    page = render_report_html(build_make_report(HOSTILE, contract=contract))
    assert "<img" not in page
    assert "\u202e" not in page


def test_tests_that_name_no_requirement_are_shown() -> None:
    entry = TestEntry(id="test_m.py::test_it", origin="generated", outcome="passed")
    report = build_traced_report(tests=(entry,), evidence=Evidence())
    assert "`test_it` (names no requirement)" in render_markdown(report)
    assert "names no requirement" in render_report_html(report)
    given = entry.model_copy(update={"origin": "given"})
    assert "names no requirement" not in render_report_html(build_traced_report(tests=(given,)))
