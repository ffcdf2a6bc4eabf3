"""Choices in the reports: question, both answers, which was taken, and by whom it was settled."""

import io

import pytest

from greenloop.records import Choice, Report
from greenloop.reporting.card import print_card
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.html.page import render_report_html
from tests.support.reports import build_make_report

CHOICE = Choice(
    id="C1", question="In cents?", answers=("f(1) -> 2", "f(1) -> 0.02"), chosen="f(1) -> 2"
)


def report_with(choice: Choice) -> Report:
    report = build_make_report()
    assert report.contract is not None
    contract = report.contract.model_copy(update={"choices": (choice,)})
    return report.model_copy(update={"contract": contract})


@pytest.mark.parametrize(
    ("answered", "words"),
    [(None, "open"), ("user", "answered by the user"), ("accepted", "accepted by the user")],
)
def test_a_choice_is_shown_with_all_its_answers(answered: str | None, words: str) -> None:
    report = report_with(CHOICE.model_copy(update={"answered": answered}))
    page = render_report_html(report)
    assert "<code>f(1) -&gt; 2</code> (taken) or <code>f(1) -&gt; 0.02</code>" in page
    assert f">{words}</span>" in page
    markdown = render_markdown(report)
    assert f"In cents? ({words}): `f(1) -> 2` or `f(1) -> 0.02`, taken: `f(1) -> 2`" in markdown


def test_another_answer_of_the_user_is_shown_too() -> None:
    changed = {"answered": "user", "chosen": "f(1) -> '2'"}
    report = report_with(CHOICE.model_copy(update=changed))
    assert "taken: <code>f(1) -&gt; &#39;2&#39;</code>" in render_report_html(report)
    assert "taken: `f(1) -> '2'`" in render_markdown(report)


def test_no_choice_is_no_section() -> None:
    report = build_make_report()
    assert report.contract is not None
    report = report.model_copy(
        update={"contract": report.contract.model_copy(update={"choices": ()})}
    )
    assert "choice" not in render_markdown(report)
    assert 'id="choices"' not in render_report_html(report)


TWO_BLANKS = Choice(
    id="C2",
    question="How wide?",
    answers=(
        "table({}) -> 'Total  0.00'",
        "table({}) -> 'Total 0.00'",
        "table({}) raises ValueError",
    ),
    chosen="table({}) -> 'Total  0.00'",
)
NOT_VERIFIED = "the text leaves open: How wide? (taken: …)"


def test_an_open_question_has_its_call_once_and_answers_with_their_blanks() -> None:
    report = report_with(TWO_BLANKS).model_copy(
        update={"reasons": (NOT_VERIFIED,), "verdict": "passed"}
    )
    card = io.StringIO()
    print_card(report, card)
    lines = [line.strip() for line in card.getvalue().splitlines()]
    at = lines.index("How wide?")
    assert lines[at + 1 : at + 4] == ["table({})", "taken  'Total  0.00'", "^"]
    assert lines[at + 4 : at + 6] == ["or     'Total 0.00'", "or     raises ValueError"]
    assert (
        "- the text leaves open: How wide? `table({})`: taken `'Total  0.00'`, "
        "or `'Total 0.00'`, or `raises ValueError`"
    ) in render_markdown(report)
    page = render_report_html(report)
    assert '<pre class="call">table({})</pre>' in page
    assert "Total <mark> </mark>0.00" in page


def test_a_call_that_the_question_names_is_not_repeated() -> None:
    asked = TWO_BLANKS.model_copy(update={"question": "what does `table({})` give?"})
    report = report_with(asked).model_copy(update={"reasons": (NOT_VERIFIED,)})
    assert "give? taken `'Total" in render_markdown(report).replace("\\`", "`")
