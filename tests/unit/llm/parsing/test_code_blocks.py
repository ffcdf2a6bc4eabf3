"""Fenced code blocks of answers."""

import pytest

from greenloop.llm.parsing.code_blocks import (
    CodeBlock,
    clean_response,
    extract_blocks,
    find_unfenced_code,
    is_valid_python,
    text_outside_blocks,
)
from greenloop.llm.parsing.errors import InvalidResponse
from tests.support.programs import read_program

FENCED_DOCSTRING = read_program(__file__, "FENCED_DOCSTRING")


def texts(answer: str) -> list[str]:
    return [block.text for block in extract_blocks(answer)]


def test_blocks_are_in_order_with_their_languages() -> None:
    answer = "One:\n```python\na = 1\n```\nTwo:\n```json\n[1]\n```\nThree:\n```\nplain text\n```\n"
    assert extract_blocks(answer) == [
        CodeBlock("python", "a = 1\n"),
        CodeBlock("json", "[1]\n"),
        CodeBlock("", "plain text\n"),
    ]


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "~~~~~"])
def test_fence_in_a_docstring_does_not_end_the_block(fence: str) -> None:
    answer = f"Here:\n{fence}python\n{FENCED_DOCSTRING}{fence}\nDone.\n{fence}\nafter\n{fence}\n"
    assert texts(answer) == [FENCED_DOCSTRING, "after\n"]


def test_shorter_fence_does_not_end_a_longer_one() -> None:
    assert texts("````text\n```\ninner\n```\n````\n") == ["```\ninner\n```\n"]


def test_fence_of_another_kind_does_not_end_a_block() -> None:
    assert texts("~~~text\n```\n~~~\n") == ["```\n"]


def test_code_that_does_not_parse_ends_at_the_first_fence() -> None:
    assert texts("```python\ndef f(:\n```\nprose\n```\nx\n```\n") == ["def f(:\n", "x\n"]


def test_fence_in_a_json_string_does_not_end_the_block() -> None:
    body = '{"interface": "\n```\nx\n```\n"}\n'
    assert texts(f"```json\n{body}```\n") == [body]


def test_indented_block_is_dedented_by_its_fence() -> None:
    answer = "1. First\n\n   ```python\n   def f():\n       return 1\n\n   ```\n2. Second\n"
    assert texts(answer) == ["def f():\n    return 1\n\n"]


def test_block_less_indented_than_its_fence_is_unchanged() -> None:
    assert texts("  ```python\nx = 1\n  ```\n") == ["x = 1\n"]


def test_unclosed_block_is_marked() -> None:
    assert extract_blocks("```python\nx = (\n") == [
        CodeBlock("python", "x = (\n\n", is_closed=False)
    ]


def test_unclosed_block_ends_where_the_next_begins() -> None:
    answer = "```python\nx = 1\n```json\n[2]\n```\n"
    assert extract_blocks(answer) == [
        CodeBlock("python", "x = 1\n", is_closed=False),
        CodeBlock("json", "[2]\n"),
    ]


@pytest.mark.parametrize(
    "info",
    ["Python", "py", "python3", "{.python}", 'python title="a.py"', "python:src/a.py", "python,x"],
)
def test_all_names_of_python_are_recognized(info: str) -> None:
    assert extract_blocks(f"```{info}\nx = 1\n```\n")[0].is_python


@pytest.mark.parametrize("info", ["json", "text", "bash", "pycon", "pythonic"])
def test_other_languages_are_not_python(info: str) -> None:
    assert not extract_blocks(f"```{info}\nx = 1\n```\n")[0].is_python


@pytest.mark.parametrize(("body", "is_python"), [("x = 1", True), ("pip install x", False)])
def test_a_block_without_language_is_python_where_it_parses(body: str, is_python: bool) -> None:
    assert extract_blocks(f"```\n{body}\n```\n")[0].is_python is is_python


def test_text_outside_blocks_is_the_prose() -> None:
    assert text_outside_blocks(
        "Before.\n```python\nx = 1\n```\nBetween.\n~~~\ny\n~~~\nAfter.\n"
    ) == ("Before.\nBetween.\nAfter.")


@pytest.mark.parametrize("source", ["", "  \n", "def f(:\n", "x = '\0'", "(" * 5000])
def test_invalid_python_does_not_parse(source: str) -> None:
    assert not is_valid_python(source)


class TestCleaning:
    def test_line_ends_are_normalized(self) -> None:
        assert clean_response("a\r\nb\rc\n") == "a\nb\nc\n"

    def test_byte_order_mark_is_removed(self) -> None:
        assert clean_response("\ufeffx") == "x"
        assert texts("```python\n\ufeffx = 1\n```\n") == ["x = 1\n"]

    @pytest.mark.parametrize(
        "pair",
        [
            "<think> </think>",
            "<THINKING> </THINKING>",
            "<minimax:think> </minimax:think>",
            "<|START_THINKING|> <|END_THINKING|>",
            "[REASONING] [/REASONING]",
            "◁think▷ ◁/think▷",
            "<scratchpad> </scratchpad>",
        ],
    )
    def test_reasoning_before_the_answer_is_removed(self, pair: str) -> None:
        first, last = pair.split()
        assert clean_response(f"\n{first}\n```python\ndraft\n```\n{last}\nAnswer") == "\nAnswer"

    @pytest.mark.parametrize("end", ["", "<|im_end|>", "<end_of_turn>\n", "</s>"])
    def test_what_frames_the_answer_is_removed(self, end: str) -> None:
        text = f"Here is my thought process: hm\nHere is my response:```\nx = 1\n```{end}"
        assert clean_response(text) == "```\nx = 1\n```"

    def test_repeated_reasoning_is_removed(self) -> None:
        assert clean_response("<think>a</think>\n<think>b</think>\nAnswer") == "\nAnswer"

    def test_answer_that_ends_in_its_reasoning_is_invalid(self) -> None:
        with pytest.raises(InvalidResponse, match="ended inside its reasoning"):
            clean_response("<think>\nLet me see\n```python\nx = 1\n```\n")

    @pytest.mark.parametrize(
        "reasoning",
        [
            "Let me see.\n</think>",
            "if n < 3 and m > 4: <b>\n\n</think>",
            "```python\nx = 1\n```\nNo, otherwise.\n</think>",
            "```python\nx = (\nunfinished, now the answer.\n</think>",
            "I'll write it now.</think>",
        ],
    )
    def test_unopened_closing_tag_ends_the_reasoning(self, reasoning: str) -> None:
        assert clean_response(f"{reasoning}\n```python\ny = 2\n```") == "\n```python\ny = 2\n```"

    @pytest.mark.parametrize(
        "code",
        [
            'END = "</think>"\n',
            'def f(t):\n    return t.split("<think>")[0].split("</think>")[-1]\n',
            'def f():\n    """Drops all\n    before the </think> tag.\n    """\n',
            'def f():\n    """\n    </think>\n    """\n',
            "END = r'''\n</reasoning>'''\n",
        ],
    )
    @pytest.mark.parametrize("form", ["Here:\n```python\n{}```\n", "{}"])
    def test_tag_within_code_is_kept(self, code: str, form: str) -> None:
        answer = form.format(code)
        assert clean_response(answer) == answer

    def test_quoted_tag_in_prose_is_kept(self) -> None:
        answer = "It cuts at `</think>` first.\n```python\nx = 1\n```\n"
        assert clean_response(answer) == answer

    def test_reasoning_is_removed_before_code_about_tags(self) -> None:
        code = '```python\nEND = """\n</think>\n"""\n```\n'
        assert clean_response(f"Hm.\n</think>\n{code}") == f"\n{code}"


class TestUnfenced:
    CODE = "import re\n\n\ndef f():\n    return 1\n"

    @pytest.mark.parametrize(
        "answer",
        [
            CODE,
            "\n" + "".join(f"    {line}\n" if line else "\n" for line in CODE.splitlines()),
            f"From the contract it follows:\n\n{CODE}",
            f"from what is asked I gather:\n\n{CODE}\nI hope that this helps!\n",
        ],
        ids=["bare", "indented", "below prose", "between prose"],
    )
    def test_code_without_a_fence_is_found(self, answer: str) -> None:
        found = find_unfenced_code(answer)
        assert found is not None
        assert found.strip() == self.CODE.strip()

    @pytest.mark.parametrize("answer", ["Hello", "x = 1", "42", "", "def is a word", '{"a": 1}'])
    def test_prose_is_not_code(self, answer: str) -> None:
        assert find_unfenced_code(answer) is None

    def test_async_code_is_code(self) -> None:
        found = find_unfenced_code("So:\nasync def f():\n    return 1\nThat is it!")
        assert found == "async def f():\n    return 1\n"
