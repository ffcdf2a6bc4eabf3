"""Open choices at a pseudo-terminal: what is asked, what is stored, interrupts and the end of input."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    contract_answer,
    fence,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.terminal_session import session

FEWER = "What if there are fewer than k numbers?"
ZERO = "What is returned for k = 0?"
CONTRACT = contract_answer(
    choices=[
        {
            "question": FEWER,
            "answers": ["top_k([2, 1], 5) -> [2, 1]", "top_k([2, 1], 5) raises ValueError"],
        },
        {"question": ZERO, "answers": ["top_k([1], 0) -> []", "top_k([1], 0) -> None"]},
    ]
)
TESTS = GOOD_TESTS.replace(
    "    assert top_k([2, 1], 5) == [2, 1]\n", "    assert top_k([2, 1], 2) == [2, 1]\n"
)
STRICT_CODE = GOOD_CODE.replace("if k < 0:", "if k < 0 or k > len(xs):")
CALL = (SPECIFICATION, "--run-dir", "run", "-o", "topk.py")
PROMPT = "1, 2, [o]ther, [l]eave it to greenloop? "


def answer(request: dict[str, Any]) -> Reply:
    """Write code and tests by the contract's choices, unless the prompt has an answer."""
    is_strict = "raises ValueError`" in json.dumps(request["messages"])
    answers = {
        "parse_specification": CONTRACT,
        "generate_code": fence(STRICT_CODE if is_strict else GOOD_CODE),
        "generate_tests": fence(TESTS),
        "review_code": "LGTM",
    }
    return Reply(answers[tool_of(request)])


def read_stored() -> list[tuple[str, str]]:
    request = json.loads(Path("run/run.json").read_text())
    return [(item["how"], item["answer"]) for item in request["choice_answers"]]


@pytest.mark.parametrize("colour", ["", "1"])
def test_choices_are_asked_before_tests_are_written(colour: str) -> None:
    """With and without the live view, which stops while a question waits."""
    with OpenAIServer(answer) as server:
        with session(server, *CALL, NO_COLOR=colour, TERM="xterm") as at_work:
            shown = at_work.until(PROMPT)
            assert f"Left open: {FEWER}" in shown
            assert "top_k([2, 1], 5)\n  1: [2, 1] (taken)" in shown.replace("\r", "")
            assert server.tools() == ["parse_specification"]
            at_work.type("9")
            assert "not understood" in at_work.until(PROMPT)
            at_work.type("2")
            assert ZERO in at_work.until(PROMPT)
            at_work.type("o")
            at_work.until("what does top_k([1], 0) give? ")
            at_work.type("nothing")
            at_work.until(PROMPT)
            at_work.type("other")
            at_work.until("give? ")
            at_work.type("[]")
            assert at_work.end() == 0
        assert read_stored() == [
            ("user", "top_k([2, 1], 5) raises ValueError"),
            ("user", "top_k([1], 0) -> []"),
        ]
        assert Path("topk.py").read_text() == STRICT_CODE
        assert not Path("run/choices.md").exists()
        paid = len(server.requests)
        with session(server, "resume", "run") as at_work:
            assert at_work.end() == 0
            assert PROMPT not in at_work.screen
        assert len(server.requests) == paid


def test_left_to_greenloop_or_unanswered() -> None:
    with OpenAIServer(answer) as server, session(server, *CALL) as at_work:
        at_work.until(PROMPT)
        at_work.type("l")
        at_work.until(PROMPT)
        at_work.type("\x04")  # the end of the input
        assert at_work.end() == 0
    assert read_stored() == [("accepted", ""), ("left", "")]
    assert ZERO in Path("run/choices.md").read_text()
    assert FEWER not in Path("run/choices.md").read_text()


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (lambda process: process.send_signal(signal.SIGINT), 130),
        (lambda process: process.kill(), -signal.SIGKILL),
    ],
)
def test_stopped_while_asking(stop: Callable[[Any], None], status: int) -> None:
    with OpenAIServer(answer) as server:
        with session(server, *CALL) as at_work:
            at_work.until(PROMPT)
            at_work.type("2")
            at_work.until(PROMPT)
            stop(at_work.process)
            assert at_work.end() == status
            if status == 130:
                assert "resume with:\n  greenloop resume" in at_work.until("/run")
        assert read_stored() == [("user", "top_k([2, 1], 5) raises ValueError")]
        asked = server.tools().count("parse_specification")
        with session(server, "resume", "run") as at_work:
            shown = at_work.until(PROMPT)
            assert ZERO in shown
            assert f"Left open: {FEWER}" not in shown
            at_work.type("1")
            assert at_work.end() == 0
        # The contract is not paid for again; it is changed by the answers, as without the stop.
        assert server.tools().count("parse_specification") == asked + 1
    assert Path("topk.py").read_text() == STRICT_CODE


@pytest.mark.parametrize("option", [("--json",), ("--quiet",), ("--ask", "never")])
def test_nothing_is_asked_where_the_terminal_is_not_read(option: tuple[str, ...]) -> None:
    with OpenAIServer(answer) as server, session(server, *CALL, *option) as at_work:
        assert at_work.end() == 0
        assert PROMPT not in at_work.screen
    assert FEWER in Path("run/choices.md").read_text()
