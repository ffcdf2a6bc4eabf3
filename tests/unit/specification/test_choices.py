"""Answers to choices: what is read as an example, and which choices a text settles itself."""

import pytest

from greenloop.records import Choice, Contract, HeldOutExample
from greenloop.specification.choices import (
    complete_answer,
    drop_settled,
    parse_answer,
    parse_object_answer,
    to_one_line,
)
from greenloop.specification.examples import analyze_specification
from tests.support.programs import read_table

PRICE = Choice(
    id="C1",
    question="In cents or in dollars?",
    answers=("price([1, 1]) -> 1600", "price([1, 1]) -> 16.0"),
    chosen="price([1, 1]) -> 1600",
)
UNITS = PRICE.model_copy(update={"answers": ("in cents", "in dollars")})


@pytest.mark.parametrize(("text", "call", "returns", "raises"), read_table(__file__, "EXAMPLES"))
def test_an_example_is_parsed(
    text: str, call: str, returns: str | None, raises: str | None
) -> None:
    example = parse_answer(text)
    assert example is not None
    assert (example.call, example.returns, example.raises) == (call, returns, raises)


@pytest.mark.parametrize(
    "text",
    [
        "in cents",
        "f(1)",
        "f(1) -> cents",
        "1 -> 2",
        "f( -> 1",
        "f(1) raises an error",
        "f(1) -> ",
        "x = f(1) -> 2",
        "",
        "f(" + "1, " * 700 + ") -> 1",
        "-> " * 600,
    ],
)
def test_other_text_is_no_example(text: str) -> None:
    assert parse_answer(text) is None


@pytest.mark.parametrize(("text", "answer"), read_table(__file__, "RESULTS"))
def test_a_result_alone_is_that_of_the_offered_call(text: str, answer: str | None) -> None:
    assert complete_answer(PRICE, text) == answer


def test_any_text_answers_where_no_example_was_offered() -> None:
    assert complete_answer(UNITS, "in  euros") == "in euros"
    assert complete_answer(UNITS, " ") is None


@pytest.mark.parametrize(("text", "is_settled"), read_table(__file__, "SETTLED"))
def test_an_example_of_the_text_settles_a_choice(text: str, is_settled: bool) -> None:
    examples = analyze_specification(text).examples
    assert drop_settled([PRICE], examples) == (() if is_settled else (PRICE,))


def test_a_choice_in_words_is_never_settled() -> None:
    assert drop_settled([UNITS], analyze_specification("f(1) -> 2").examples) == (UNITS,)


def test_one_line_cannot_look_like_a_heading_or_a_mark() -> None:
    assert to_one_line("## C2\n\n- [x] 1: \x1b[31ma\tb") == "C2; - [x] 1: [31ma b"
    assert to_one_line("- [x] 1: a") == "[x] 1: a"


@pytest.mark.parametrize(("text", "line"), read_table(__file__, "BLANKS"))
def test_blanks_count_in_literals_alone(text: str, line: str) -> None:
    assert to_one_line(text) == line


def test_a_long_example_keeps_its_result() -> None:
    call = f"total({list(range(400))})"
    answer = to_one_line(f"{call} -> 79800")
    assert len(answer) > 1000
    assert parse_answer(answer) == HeldOutExample(call=call, returns="79800")
    assert parse_answer(f"total({list(range(4000))}) -> 1") is None


def test_a_reason_shows_the_result_of_a_long_example() -> None:
    answer = f"total({list(range(400))}) -> 79800"
    choice = Choice(id="D1", question="What?", answers=(answer, "2"), chosen=answer)
    contract = Contract(module="m", summary="", interface="", requirements=(), choices=(choice,))
    (reason,) = contract.unmet()
    assert "(taken: total([0, 1, 2" in reason
    assert "-> 79800; or: 2): answer it" in reason
    assert len(reason) < 500


@pytest.mark.parametrize(("answer", "call"), read_table(__file__, "OBJECTS"))
def test_an_object_of_the_module_can_be_an_answer(answer: str, call: str | None) -> None:
    found = parse_object_answer(answer, {"Point", "Pair"})
    assert found == (call and HeldOutExample(call=call, returns="True"))
