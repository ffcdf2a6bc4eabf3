"""Parser of test files and held-out examples."""

import json

import pytest

from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.tests import parse_tests
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract, HeldOutExample
from tests.support.programs import read_table

IMPORT = "from roman import to_roman\n"
ONE = 'def test_one():\n    """R1: one."""\n    assert to_roman(1) == "I"\n'
TWO = 'def test_two():\n    """R1: two."""\n    assert to_roman(2) == "II"\n'
TESTS = f"{IMPORT}\n\n{ONE}"


def fence(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}```\n"


def parse_held_out(value: object, contract: Contract) -> tuple[HeldOutExample, ...]:
    text = value if isinstance(value, str) else json.dumps(value)
    return parse_tests(LLMResponse(fence(TESTS) + fence(text + "\n", "json")), contract).held_out


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (fence(TESTS), TESTS),
        (f"Twelve tests.\n{fence(TESTS)}Sealed:\n{fence('[]', 'json')}", TESTS),
        (fence("x = 1\n") + fence(TESTS), TESTS),
        (fence(TESTS.replace('"I"', '"V"')) + "No:\n" + fence(TESTS), TESTS),
        (fence(IMPORT) + fence(ONE), f"{IMPORT}\n\n{ONE}"),
        (fence(TESTS) + fence(f"{IMPORT}{ONE}{TWO}"), f"{IMPORT}{ONE}{TWO}"),
        (f"```python\n{TESTS}```json\n[]\n```\n", TESTS),
        (fence(f"import os, roman\n{ONE}"), f"import os, roman\n{ONE}"),
        (fence(ONE), f"from roman import to_roman\n{ONE}"),
        (fence(f"from romans import to_roman\n{ONE}"), f"from roman import to_roman\n{ONE}"),
    ],
    ids=[
        "one",
        "prose",
        "tests win",
        "later wins",
        "joined",
        "most",
        "unclosed",
        "import",
        "no import",
        "wrong import",
    ],
)
def test_test_file_is_found(answer: str, code: str, contract: Contract) -> None:
    assert parse_tests(LLMResponse(answer), contract).code == code


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (fence("def to_roman(n):\n    return 1\n"), "no test function"),
        (fence("def test_one():\n    pass\n"), "import what they test from `roman`"),
        (fence(f"{TESTS}\n# ... more tests ...\n# other tests here\n"), "not whole"),
        ("No tests are needed.", "no Python"),
    ],
)
def test_answer_without_a_test_file_is_invalid(answer: str, said: str, contract: Contract) -> None:
    with pytest.raises(InvalidResponse, match=said):
        parse_tests(LLMResponse(answer), contract)


class TestHeldOutExamples:
    def test_a_list_of_statements_is_one_call(self, contract: Contract) -> None:
        value = [{"call": ["s = Stack()", "s.push(1)", "s.pop()"], "returns": 1}]
        (example,) = parse_held_out(value, contract)
        assert (example.call, example.returns) == ("s = Stack()\ns.push(1)\ns.pop()", "1")

    def test_held_out_examples_are_parsed(self, contract: Contract) -> None:
        value = [
            {"requirement": "R1", "call": "to_roman(1)", "returns": "'I'"},
            {"requirement": "R2", "call": "to_roman(0)", "raises": "NotRoman"},
        ]
        assert parse_held_out(value, contract) == (
            HeldOutExample(requirement="R1", call="to_roman(1)", returns="'I'"),
            HeldOutExample(requirement="R2", call="to_roman(0)", raises="NotRoman"),
        )

    @pytest.mark.parametrize(
        ("value", "literal"), [(1, "1"), ([1, 2], "[1, 2]"), (True, "True"), ("1", "1")]
    )
    def test_json_value_in_place_of_a_literal_is_accepted(
        self, value: object, literal: str, contract: Contract
    ) -> None:
        (example,) = parse_held_out([{"call": "f()", "returns": value}], contract)
        assert example.returns == literal

    def test_unknown_keys_are_ignored(self, contract: Contract) -> None:
        (example,) = parse_held_out(
            [{"call": "f()", "returns": "1", "raises": None, "why": "x"}], contract
        )
        assert example == HeldOutExample(call="f()", returns="1")

    @pytest.mark.parametrize(
        "bad",
        read_table(__file__, "MALFORMED"),
    )
    def test_malformed_example_is_dropped_alone(self, bad: object, contract: Contract) -> None:
        good = {"call": "f()", "returns": "1"}
        assert [item.call for item in parse_held_out([bad, good], contract)] == ["f()"]

    @pytest.mark.parametrize("text", ["[{'call': 1}]", "[", '{"call": "f()", "returns": "1"}', ""])
    def test_invalid_list_of_examples_drops_only_the_examples(
        self, text: str, contract: Contract
    ) -> None:
        assert parse_held_out(text, contract) == ()
