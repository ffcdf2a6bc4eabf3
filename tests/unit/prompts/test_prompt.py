"""Digest and length of a prompt, and the second request."""

import pytest

from greenloop.prompts import Message, Prompt

PROMPT = Prompt("generate_code", (Message("system", "Write."), Message("user", "zwölf … 🎲")))


def test_digest_is_stable() -> None:
    """Logs of earlier versions are found by it: if it changes, their answers are paid again."""
    expected = "cfec3beda9cc096e98d1abc8eb82372357e064b45634331eca3cd65f393760b7"
    assert PROMPT.sha256 == expected


@pytest.mark.parametrize(
    "other",
    [
        Prompt("repair_code", PROMPT.messages),
        Prompt("generate_code", PROMPT.messages[:1]),
        Prompt("generate_code", PROMPT.messages[::-1]),
        Prompt("generate_code", (Message("user", "Write."), PROMPT.messages[1])),
        Prompt("generate_code", (PROMPT.messages[0], Message("user", "zwölf … 🎲 "))),
    ],
    ids=["tool", "fewer", "order", "role", "text"],
)
def test_digest_distinguishes_prompts(other: Prompt) -> None:
    assert other.sha256 != PROMPT.sha256


def test_characters_are_summed_over_messages() -> None:
    assert PROMPT.characters == len("Write.") + len("zwölf … 🎲")


class TestFeedback:
    def test_answer_and_error_are_appended(self) -> None:
        again = PROMPT.with_feedback("an answer", "a complaint")
        assert again.tool == PROMPT.tool
        assert again.messages == (
            *PROMPT.messages,
            Message("assistant", "an answer"),
            Message("user", "a complaint"),
        )
        assert again.sha256 != PROMPT.sha256

    def test_empty_answer_is_replaced_by_a_note(self) -> None:
        assert PROMPT.with_feedback("", "complaint").messages[-2].text == "(empty)"

    def test_long_answer_is_truncated(self) -> None:
        assert len(PROMPT.with_feedback("x" * 100_000, "c").messages[-2].text) == 4000
