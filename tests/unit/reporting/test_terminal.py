"""Text report for a terminal: 80 columns, untrusted text escaped."""

import pytest

from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.formats.terminal import render_report_text
from greenloop.reporting.html.page import render_report_html
from tests.support.reports import HOSTILE, all_kinds, build_check_report, build_make_report

REPORTS = all_kinds()


@pytest.mark.parametrize("kind", REPORTS)
def test_lines_fit_and_have_no_control_characters(kind: str) -> None:
    text = render_report_text(REPORTS[kind])
    assert max(len(line) for line in text.split("\n")) <= 80
    assert text.isascii() or all(char.isprintable() or char == "\n" for char in text)
    assert text.startswith(f"{REPORTS[kind].verdict}: ")


def test_verdict_and_failures_come_first() -> None:
    text = render_report_text(build_check_report())
    assert text.index("because") < text.index("FAILURES") < text.index("DID NOT RAISE")
    text = render_report_text(build_make_report())
    for part in (
        "SHORT  mutants",
        "1 SURVIVING MUTANT",
        "       def top_k(xs, k):\n      -    if k < 0:\n",
        "dropped      test_wrong [R1]",
        "2 repair",
    ):
        assert part in text
    assert "␛[31mred" in render_report_text(build_make_report(HOSTILE))


def test_changed_lines_of_a_survivor_have_no_heads_and_no_lines_around() -> None:
    mutation = build_make_report().evidence.mutation
    assert mutation is not None
    (survivor,) = mutation.survived
    assert survivor.changed_lines == "-    if k < 0:\n+    if k <= 0: as it should be"
    again = survivor.model_copy(update={"diff": survivor.changed_lines})
    assert again.changed_lines == survivor.changed_lines


def test_survivors_show_why_they_need_no_test() -> None:
    report = build_make_report()
    mutation = report.evidence.mutation
    assert mutation is not None
    said = mutation.survived[0].model_copy(update={"reason": "k is never 0"})
    evidence = report.evidence.model_copy(
        update={"mutation": mutation.model_copy(update={"survived": (said,)})}
    )
    report = report.model_copy(update={"evidence": evidence})
    for render in (render_report_text, render_markdown, render_report_html):
        assert "k is never 0" in render(report)


def test_differences_show_both_answers_and_the_ruling() -> None:
    for text in (render_report_text(build_make_report()), render_markdown(build_make_report())):
        assert "raises ValueError" in text
        assert "code is wrong, a test:" in text.replace("\\", "")
        assert "not judged" in text
