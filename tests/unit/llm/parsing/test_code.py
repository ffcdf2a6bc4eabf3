"""Parsers of modules and scripts."""

import json

import pytest

from greenloop.llm.parsing.code import parse_code, parse_script
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract

ERROR = "class NotRoman(ValueError):\n    pass\n"
FUNCTION = "def to_roman(number):\n    return 'I' * number\n"
MODULE = f"{ERROR}\n\n{FUNCTION}"
TESTS = "from roman import NotRoman, to_roman\n\n\ndef test_one():\n    assert to_roman(1) == 'I'\n"
USAGE = "from roman import NotRoman, to_roman\nprint(to_roman(3), NotRoman)\n"


def fence(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}```\n"


def code_of(text: str, contract: Contract) -> str:
    return parse_code(LLMResponse(text), contract).code


def complaint(text: str, contract: Contract, finish: str | None = "stop") -> str:
    with pytest.raises(InvalidResponse) as caught:
        parse_code(LLMResponse(text, finish), contract)
    return str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        fence(MODULE),
        f"I count.\n\n{fence(MODULE)}\nThat is all.",
        fence(MODULE).replace("\n", "\r\n"),
        f"\ufeff{fence(MODULE)}",
        f"~~~python\n{MODULE}~~~",
        fence(MODULE, ""),
        f"```python\n{MODULE}",
        f"<think>{fence('draft')}</think>{fence(MODULE)}",
        f"Reasoning: is 1 < 2?\n</think>\n{fence(MODULE)}",
        fence(MODULE) + "Tests:\n" + fence(TESTS),
        fence(TESTS) + fence(MODULE),
        fence(MODULE) + "Use it so:\n" + fence(USAGE),
        fence(MODULE) + "Use it so:\n" + fence(">>> to_roman(1)\n'I'\n", "pycon"),
        fence("pip install roman\n", "bash") + fence(MODULE) + fence("I\n", ""),
        fence("def to_roman(number):\n    return 'draft'\n") + "No, whole:\n" + fence(MODULE),
        fence(MODULE.replace("'I'", "'draft'")) + "Better:\n" + fence(MODULE),
        json.dumps({"code": MODULE}),
        fence(json.dumps({"explanation": "I count.", "code": MODULE}, indent=1) + "\n", "json"),
        f"I'm sorry for the wait.\n{fence(MODULE)}",
    ],
)
def test_module_is_found(answer: str, contract: Contract) -> None:
    assert code_of(answer, contract).strip() == MODULE.strip()


def test_code_without_a_fence_is_found(contract: Contract) -> None:
    assert code_of(f"Here it is:\n\n{MODULE}", contract).strip() == MODULE.strip()


def test_module_split_over_blocks_is_joined(contract: Contract) -> None:
    shown = ">>> to_roman(1)\n'I'\n"
    answer = (
        f"First:\n{fence(ERROR)}Then:\n{fence(FUNCTION)}So:\n{fence(shown)}{fence(USAGE)}"
        + fence(TESTS)
    )
    assert code_of(answer, contract) == f"{ERROR}\n\n{FUNCTION}"


def test_prose_is_the_explanation(contract: Contract) -> None:
    answer = f"I count.\n{fence(MODULE)}Done."
    assert parse_code(LLMResponse(answer), contract).explanation == "I count.\nDone."


def test_code_that_does_not_parse_is_accepted(contract: Contract) -> None:
    assert code_of(fence("def to_roman(:\n"), contract) == "def to_roman(:\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I would count the letters.", "no Python"),
        (fence("pip install roman\n", "bash"), "no Python"),
        (json.dumps({"answer": 42}), "no Python"),
        (f"```python\n{MODULE}\nx = (\n", "ended inside its code block"),
        ("<think>hm", "ended inside its reasoning"),
        (fence(MODULE + "# rest of the code here\n"), "not whole (line 7: # rest"),
        (fence(TESTS), "test file"),
        (fence(USAGE), "does not define: NotRoman, to_roman"),
        (fence(FUNCTION), "does not define: NotRoman"),
        (fence(f"{ERROR}def to_roman(number): ...\n"), "left unwritten: to_roman"),
        (fence(f"from .roman import to_roman\n{ERROR}"), "does not define: to_roman"),
        ("I'm sorry, but I can't help with that.", "declines"),
        ("I’m sorry, but I can’t help with that.", "declines"),
        ("I cannot assist with this request.", "declines"),
        ("I won't write this.", "declines"),
    ],
)
def test_answer_without_a_module_is_invalid(answer: str, said: str, contract: Contract) -> None:
    assert said in complaint(answer, contract)


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "incomplete"])
def test_truncated_answer_is_invalid_even_if_it_parses(finish: str, contract: Contract) -> None:
    assert "cut off" in complaint(fence(MODULE), contract, finish)


@pytest.mark.parametrize("finish", ["stop", "end_turn", None])
def test_answer_with_another_finish_reason_is_accepted(
    finish: str | None, contract: Contract
) -> None:
    assert parse_code(LLMResponse(fence(MODULE), finish), contract).code == MODULE


def test_empty_body_is_accepted_where_it_may_be_meant(contract: Contract) -> None:
    code = f"{ERROR}def to_roman(number):\n    raise NotImplementedError('later')\n# ...\n"
    assert parse_code(LLMResponse(fence(code), is_last=True), contract).code == code
    named = contract.model_copy(update={"summary": "It raises NotImplementedError."})
    assert code_of(fence(code.removesuffix("# ...\n")), named)


def test_required_name_may_be_imported(contract: Contract) -> None:
    code = f"from numerals import to_roman\n{ERROR}"
    assert code_of(fence(code), contract) == code


class TestScript:
    SCRIPT = "import sys\n\nprint(len(sys.argv))\n"

    @pytest.mark.parametrize(
        "around",
        ["{}", "Prints a count.\n{}", "{}It prints:\n```\n1\n```\n", "```\n1\n```\nfrom\n{}"],
    )
    def test_script_is_found_beside_its_output(self, around: str) -> None:
        assert parse_script(LLMResponse(around.format(fence(self.SCRIPT)))).code == self.SCRIPT

    @pytest.mark.parametrize("answer", ["Run `ls`.", fence("# rest of the code here\n")])
    def test_incomplete_script_is_invalid(self, answer: str) -> None:
        with pytest.raises(InvalidResponse):
            parse_script(LLMResponse(answer))
