"""The report as Markdown with all its sections, as `greenloop report` prints it."""

import pytest

from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.html.page import render_report_html
from tests.support.reports import HOSTILE, all_kinds, build_check_report, build_make_report

REPORTS = all_kinds()


@pytest.mark.parametrize("kind", REPORTS)
def test_text_has_no_control_characters_and_begins_with_the_verdict(kind: str) -> None:
    text = render_markdown(REPORTS[kind], folds=False)
    assert all(char.isprintable() or char in "\n\u2060" for char in text)
    assert REPORTS[kind].verdict in text.split("\n")[0]
    assert "\n<details>" not in text


def test_failures_and_what_keeps_the_verdict_come_first() -> None:
    text = render_markdown(build_check_report(), folds=False)
    assert text.index("Not better because") < text.index("1 failing test") < text.index("DID NOT")
    text = render_markdown(build_make_report(), folds=False)
    for part in (
        "| ✗ | mutants |",
        "### 1 surviving mutant",
        "- dropped `test_wrong` (R1): contradicts R1",
        "- repair: 2 passed, 0 failed",
        "- error, line 3 (repaired): ",
    ):
        assert part in text
    assert "␛\\[31mred" in render_markdown(build_make_report(HOSTILE), folds=False)


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
    for render in (render_markdown, render_report_html):
        assert "k is never 0" in render(report)


def test_differences_show_both_answers_and_the_ruling() -> None:
    text = render_markdown(build_make_report())
    assert "raises ValueError" in text
    assert "code is wrong, a test:" in text.replace("\\", "")
    assert "not judged" in text
