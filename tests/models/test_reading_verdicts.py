"""Reviews, judgements and JSON values."""

from __future__ import annotations

import json

import pytest

from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.parsing.review import read_judgement, read_review
from greenloop.llm.response import Answer, json_value, whole_text
from greenloop.records import Finding


@pytest.mark.parametrize(
    "line",
    [
        "- L12 error: off by one",
        "* L12 error: off by one",
        "L12 ERROR: off by one",
        "L12: error: off by one",
        "- **L12** **error**: off by one",
        "- **L12 error:** off by one",
        "- `L12` error: off by one",
        "- [L12] error: off by one",
        "1. L12 error: off by one",
        "- L12-L15 error: off by one",
        "- L12-15 error: off by one",
        "- L12, L15 error: off by one",
        "- L12 error — off by one",
    ],
)
@pytest.mark.parametrize("form", ["{}", "Found:\n\n{}\n", "```\n{}\n```"])
def test_a_finding_is_read_in_any_of_its_shapes(line: str, form: str) -> None:
    (finding,) = read_review(Answer(form.format(line))).findings
    assert finding == Finding(line=12, severity="error", message="off by one")


def test_findings_keep_their_order_and_need_no_line() -> None:
    review = read_review(Answer("- L3 warning: slow: very\n- L? style: names\n- L1 error: crash\n"))
    assert [(item.line, item.severity) for item in review.findings] == [
        (3, "warning"),
        (None, "style"),
        (1, "error"),
    ]
    assert review.findings[0].message == "slow: very"
    assert [item.message for item in review.errors] == ["crash"]


@pytest.mark.parametrize(
    "text", ["LGTM", "**LGTM**", "LGTM.", "All traced.\n\nLGTM!", "It is LGTM"]
)
def test_lgtm_is_no_finding(text: str) -> None:
    assert read_review(Answer(text)).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "The code is fine.",
        "This is not LGTM",
        "LGTM except for a crash on empty input",
        "NLGTM",
        "Line twelve: error",
        "- L12 fatal: crash",
        "",
    ],
)
def test_what_is_no_review_is_complained_of(text: str) -> None:
    with pytest.raises(Unusable):
        read_review(Answer(text))


@pytest.mark.parametrize("wrong", ["test", "code"])
@pytest.mark.parametrize(
    "form", ["{}", "1 + 1 is 2.\n```json\n{}\n```", "Set {{1, 2}}:\n```\n{}\n```", "So: {} Done."]
)
def test_a_judgement_is_read(wrong: str, form: str) -> None:
    value = json.dumps({"wrong": wrong, "because": "R1"})
    judgement = read_judgement(Answer(form.format(value)))
    assert (judgement.wrong, judgement.because) == (wrong, "R1")


def test_a_judgement_may_be_written_large() -> None:
    assert read_judgement(Answer('{"wrong": "Test "}')).wrong == "test"


@pytest.mark.parametrize(
    "text",
    ['{"wrong": "both"}', '{"because": "R1"}', "the test is wrong", '["test"]', '{"wrong": 1}'],
)
def test_what_is_no_judgement_is_complained_of(text: str) -> None:
    with pytest.raises(Unusable):
        read_judgement(Answer(text))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ('```json\n{"a": 1}\n```', dict, {"a": 1}),
        ("```json\n[1]\n```\n```json\n{}\n```", dict, {}),
        ('```json\n{"a": "two\nlines"}\n```', dict, {"a": "two\nlines"}),
        ("The list is [1, 2].", list, [1, 2]),
        ("```python\nx = [3]\n```\n```json\n[1]\n```", list, [1]),
    ],
)
def test_the_first_json_value_of_the_kind_is_found(text: str, kind: type, value: object) -> None:
    assert json_value(text, kind) == value


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "[1]", "```json\n{\n```"])
def test_no_json_is_complained_of(text: str) -> None:
    with pytest.raises(Unusable, match="```json"):
        json_value(text, dict)


def test_whole_text_is_the_cleaned_answer() -> None:
    assert whole_text(Answer("<think>hm</think>\r\nYes")) == "\nYes"
    with pytest.raises(Unusable, match="cut off"):
        whole_text(Answer("Yes", "length"))
