"""Reviews, judgements and JSON values."""

import asyncio
import json
from contextlib import suppress

import pytest

from greenloop.errors import ReplayExhaustedError
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.review import ReviewReader, parse_judgement, parse_review
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Finding, Review
from tests.support.programs import read_table


@pytest.mark.parametrize("line", read_table(__file__, "FINDINGS"))
@pytest.mark.parametrize("form", ["{}", "Found:\n\n{}\n", "```\n{}\n```"])
def test_finding_is_parsed_in_all_forms(line: str, form: str) -> None:
    (finding,) = parse_review(LLMResponse(form.format(line))).findings
    assert finding == Finding(line=12, severity="error", message="off by one")


def test_a_finding_of_another_form_beside_one_is_asked_for_again() -> None:
    text = "- L1 error: crash\n- L12 | error | off by one"
    with pytest.raises(InvalidResponse):
        parse_review(LLMResponse(text))
    assert len(parse_review(LLMResponse(text, is_last=True)).findings) == 1


def test_findings_are_in_order_and_need_no_line() -> None:
    review = parse_review(
        LLMResponse("- L3 warning: slow: very\n- L? style: names\n- L1 error: crash\n")
    )
    assert [(item.line, item.severity) for item in review.findings] == [
        (3, "warning"),
        (None, "style"),
        (1, "error"),
    ]
    assert review.findings[0].message == "slow: very"
    assert [item.message for item in review.errors] == ["crash"]


@pytest.mark.parametrize("text", read_table(__file__, "CLEAN"))
def test_lgtm_has_no_findings(text: str) -> None:
    assert parse_review(LLMResponse(text)).findings == ()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("- B1: asks for nothing\n- B12: asks for nothing.\nLGTM", (1, 12)),
        ("B2 asks for nothing", (2,)),
        ("- B1, B2 and B14: ask for nothing\n\n- L2 error: index", (1, 2, 14)),
        ("- B1, 2: ask for nothing\nLGTM", (1, 2)),
        ("- B1-B3, B5 – 6: ask for nothing\nLGTM", (1, 2, 3, 5, 6)),
        ("* **background B3**: Asks for nothing\n- L1 error: crash", (3,)),
        ("- B1: nothing is wrong\nLGTM", ()),
        ("- L? warning: background B1: asks for nothing less than an index\nLGTM", ()),
    ],
)
def test_background_is_confirmed_by_number(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_review(LLMResponse(text)).confirmed == numbers


def test_a_review_without_a_line_on_passages_stands_and_is_asked_for_that_line() -> None:
    read = ReviewReader(5)
    with pytest.raises(InvalidResponse, match="B1 to B5"):
        read(LLMResponse("- L2 error: index\n- C1: needs no answer"))
    review = read(LLMResponse("- B1-B3: ask for nothing", is_last=True))
    assert [item.message for item in review.findings] == ["index"]
    assert (review.confirmed, review.needless) == ((1, 2, 3), (1,))
    assert ReviewReader(0)(LLMResponse("LGTM")) == Review()
    (refused,) = ReviewReader(1)(LLMResponse("- L? warning: background B1: an index")).findings
    assert refused.severity == "warning"


def test_a_review_stands_where_nobody_gives_its_line() -> None:
    async def refuse(read: ReviewReader, text: str) -> Review:
        with suppress(InvalidResponse):
            read(LLMResponse(text))
        raise ReplayExhaustedError("no answer is left")

    read = ReviewReader(5)
    review = asyncio.run(read.complete(refuse(read, "- L2 error: index")))
    assert [item.message for item in review.findings] == ["index"]
    with pytest.raises(ReplayExhaustedError):
        asyncio.run((read := ReviewReader(5)).complete(refuse(read, "what?")))


def test_questions_that_need_no_answer_are_listed_by_number() -> None:
    review = parse_review(LLMResponse("- B1-B2: ask for nothing\n- C1, C3: need no answer\nLGTM"))
    assert (review.confirmed, review.needless) == ((1, 2), (1, 3))


@pytest.mark.parametrize("text", read_table(__file__, "NO_REVIEWS"))
def test_answer_without_a_review_is_invalid(text: str) -> None:
    with pytest.raises(InvalidResponse):
        parse_review(LLMResponse(text))


@pytest.mark.parametrize("wrong", ["test", "code"])
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        '[{{"id": 1, "ruling": {}}}]',
        "<tool_call>{{'name': 'judge', 'arguments':\xa0{}}}</tool_call>",
        "1 + 1 is 2.\n```json\n{}\n```",
        "Set {{1, 2}}:\n```\n{}\n```",
        "So: {} Done.",
    ],
)
def test_judgement_is_parsed(wrong: str, form: str) -> None:
    value = json.dumps({"wrong": wrong, "because": "R1"})
    judgement = parse_judgement(LLMResponse(form.format(value)))
    assert (judgement.wrong, judgement.because) == (wrong, "R1")


def test_judgement_may_be_uppercase() -> None:
    assert parse_judgement(LLMResponse('{"wrong": "Test "}')).wrong == "test"


@pytest.mark.parametrize(
    "text",
    ['{"wrong": "both"}', '{"because": "R1"}', "the test is wrong", '["test"]', '{"wrong": 1}'],
)
def test_answer_without_a_judgement_is_invalid(text: str) -> None:
    with pytest.raises(InvalidResponse):
        parse_judgement(LLMResponse(text))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ('```json\n{"a": 1}\n```', dict, {"a": 1}),
        ("```json\n[1]\n```\n```json\n{}\n```", dict, {}),
        ('```json\n{"a": 1}\n```\nNo:\n```json\n{"a": 2}\n```', dict, {"a": 2}),
        ('```json\n{"a": "two\nlines"}\n```', dict, {"a": "two\nlines"}),
        ("The list is [1, 2].", list, [1, 2]),
        ("```python\nx = [3]\n```\n```json\n[1]\n```", list, [1]),
    ],
)
def test_last_json_value_of_the_type_is_found(text: str, kind: type, value: object) -> None:
    assert extract_json(text, kind) == value


@pytest.mark.parametrize("text", ["", "{", "[1]", "```json\n{\n```"])
def test_answer_without_json_is_invalid(text: str) -> None:
    with pytest.raises(InvalidResponse, match="```json"):
        extract_json(text, dict)


def test_text_is_the_cleaned_answer() -> None:
    assert extract_text(LLMResponse("<think>hm</think>\r\nYes")) == "\nYes"
    with pytest.raises(InvalidResponse, match="cut off"):
        extract_text(LLMResponse("Yes", "length"))
    with pytest.raises(InvalidResponse, match="repeated one passage"):
        extract_text(LLMResponse("Yes, yes.\n" * 999, "length"))
