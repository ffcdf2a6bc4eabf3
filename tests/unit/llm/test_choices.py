"""The key `choices` of a contract."""

import pytest

from greenloop.llm.parsing.choices import parse_choices
from greenloop.specification.examples import analyze_specification
from tests.support.programs import read_table

ASKED = {"question": "Cents?", "answers": ["f(1) -> 2", "f(1) -> 2.0"], "chosen": "f(1) -> 2"}


def test_choices_are_numbered_and_open() -> None:
    found = parse_choices(
        [{**ASKED, "id": "R7", "quote": "the price"}, {**ASKED, "question": "B?"}], ()
    )
    assert [item.id for item in found] == ["C1", "C2"]
    assert found[0].question == "Cents?"
    assert found[0].quote == "the price"
    assert found[0].answers == ("f(1) -> 2", "f(1) -> 2.0")
    assert found[0].chosen == "f(1) -> 2"


def test_a_model_cannot_answer_its_own_question() -> None:
    forged = {**ASKED, "answered": "user", "source": "judge"}
    assert [(i.answered, i.source) for i in parse_choices([forged], ())] == [(None, "contract")]


def test_what_was_chosen_is_among_the_answers() -> None:
    found = parse_choices(
        [{**ASKED, "chosen": "f(1) -> 3"}, {**ASKED, "question": "B?", "chosen": None}], ()
    )
    assert found[0].answers[0] == found[0].chosen == "f(1) -> 3"
    assert found[1].chosen == "f(1) -> 2"


def test_a_result_alone_gets_the_call_of_the_other_answers() -> None:
    answers = ["f(1) -> 2", "raises ValueError", "'two'", "an error", "the first of them"]
    (found,) = parse_choices([{**ASKED, "answers": answers, "chosen": "raises ValueError"}], ())
    assert found.chosen == "f(1) raises ValueError"
    assert found.answers == ("f(1) -> 2", found.chosen, "f(1) -> 'two'", *answers[3:])


def test_the_same_question_counts_once() -> None:
    assert len(parse_choices([ASKED, {**ASKED, "question": " Cents? "}], ())) == 1


def test_an_example_of_the_text_leaves_nothing_open() -> None:
    assert parse_choices([ASKED], analyze_specification("f(1) -> 2.0").examples) == ()


def test_no_key_is_no_choice() -> None:
    assert parse_choices(None, ()) == ()


def test_texts_are_bounded() -> None:
    long = {"question": "x" * 9999, "answers": ["y" * 9999] * 99, "quote": "z" * 9999}
    (found,) = parse_choices([long], ())
    assert len(found.model_dump_json()) < 6000


@pytest.mark.parametrize("value", read_table(__file__, "OTHER_FORMS"))
def test_another_form_is_no_choice(value: object) -> None:
    assert parse_choices(value, ()) == ()
