"""A prompt's digest, its length, and asking again."""

from __future__ import annotations

import pytest

from greenloop.prompts import Message, Prompt

PROMPT = Prompt("generate_code", (Message("system", "Write."), Message("user", "zwölf … 🎲")))


def test_the_digest_does_not_change_from_run_to_run() -> None:
    """Logs of earlier versions are resumed by it: when this fails, old runs are paid for again."""
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
def test_the_digest_tells_prompts_apart(other: Prompt) -> None:
    assert other.sha256 != PROMPT.sha256


def test_characters_are_those_of_all_messages() -> None:
    assert PROMPT.characters == len("Write.") + len("zwölf … 🎲")


class TestAskedAgain:
    def test_the_answer_and_the_complaint_are_appended(self) -> None:
        again = PROMPT.with_feedback("an answer", "a complaint")
        assert again.tool == PROMPT.tool
        assert again.messages == (
            *PROMPT.messages,
            Message("assistant", "an answer"),
            Message("user", "a complaint"),
        )
        assert again.sha256 != PROMPT.sha256

    def test_an_empty_answer_is_named_as_providers_refuse_empty_messages(self) -> None:
        assert PROMPT.with_feedback("", "complaint").messages[-2].text == "(empty)"

    def test_a_long_answer_is_cut(self) -> None:
        assert len(PROMPT.with_feedback("x" * 100_000, "c").messages[-2].text) == 4000
