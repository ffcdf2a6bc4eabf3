"""`make --approve` at a pseudo-terminal: what it shows, what it asks, how it continues."""

import json
from pathlib import Path
from typing import Any

from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    contract_answer,
    fence,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.terminal_session import QUESTION, session

WISH = "An empty list gives an empty list."


def answer(request: dict[str, Any]) -> Reply:
    """Gives a valid answer for each tool; the tests name every requirement."""
    text = "\n".join(str(item["content"]) for item in request["messages"])
    suite = suite_answer()
    if "\nR3. " in text:
        suite = suite.replace('"""R1: all', '"""R1, R3: all')
    answers = {
        "parse_specification": contract_answer(),
        "generate_code": fence(GOOD_CODE),
        "generate_tests": suite,
        "review_code": "LGTM",
    }
    return Reply(answers[tool_of(request)])


def test_changed_in_words_and_accepted() -> None:
    call = (SPECIFICATION, "-o", "topk.py", "--run-dir", "run", "--approve")
    with OpenAIServer(answer) as server:
        with session(server, *call) as at_work:
            shown = at_work.until(QUESTION)
            assert "+def top_k(" in shown
            assert "+def test_negative(" in shown
            assert "passed: " in shown
            assert "open assumptions" in shown
            at_work.type("what?")
            at_work.until(QUESTION)
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type(WISH)
            at_work.until(QUESTION)
            assert not Path("topk.py").exists()
            at_work.type("a")
            assert at_work.end() == 0
        tools = server.tools()
        assert tools.count("parse_specification") == 1  # equal prompts are not paid for twice
        assert tools.count("generate_code") == 2
        last = next(item for item in reversed(server.requests) if tool_of(item) == "generate_tests")
        text = json.dumps(last["messages"])
        assert f"R3. {WISH}" in text
        assert Path("topk.py").read_text() == GOOD_CODE
        # The run keeps both: after `resume` the same code is shown, and no call is paid for.
        Path("topk.py").unlink()
        with session(server, "resume", "run", "--approve") as at_work:
            assert "+def top_k(" in at_work.until(QUESTION)
            at_work.type("r")
            assert at_work.end() == 1
            assert "rejected: nothing was written" in at_work.screen
        assert len(server.requests) == len(tools)
    assert not Path("topk.py").exists()
    assert Path("out").read_text() == ""
