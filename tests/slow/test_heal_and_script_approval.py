"""`heal --approve` and `script --approve`: changes in words, acceptance."""

import json
from pathlib import Path
from typing import Any

from tests.support.model_responses import GOOD_CODE, GOOD_TESTS, WRONG_CODE, fence
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.terminal_session import QUESTION, session

HEAL_WISH = "Print the sum as well."
BROKEN = "values = [3, 1, 2]\nprint(max(value))\n"
HEALED = BROKEN.replace("(value)", "(values)")
CHANGED = HEALED + "print(sum(values))\n"


def healing(request: dict[str, Any]) -> Reply:
    """Heals first; then does what the last change request says, the impossible one wrongly."""
    text = str(request["messages"][-1]["content"])
    if "impossible" in text:
        return Reply(fence(HEALED + "print(nothing)\n"))
    return Reply(fence(CHANGED if HEAL_WISH in text else HEALED))


def test_a_healed_script_is_changed_in_words_and_accepted() -> None:
    Path("old.py").write_text(BROKEN)
    with OpenAIServer(healing) as server:
        call = ("heal", "old.py", "--run-dir", "run", "--approve", "--max-repairs", "1")
        with session(server, *call) as at_work:
            shown = at_work.until(QUESTION)
            assert "+print(max(values))" in shown
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type(HEAL_WISH)
            shown = at_work.until(QUESTION)
            assert "+print(sum(values))" in shown
            assert "passed: " in shown
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type("Do the impossible.")
            shown = at_work.until(QUESTION)
            assert "requested later and not done: Do the impossible.: exits with status 0" in shown
            assert "+print(sum(values))" in shown  # the last accepted result is kept
            assert Path("old.py").read_text() == BROKEN
            at_work.type("a")
            assert at_work.end() == 0
        assert Path("old.py").read_text() == CHANGED
        asked = [str(item["messages"][-1]["content"]) for item in server.requests]
        assert [HEAL_WISH in text for text in asked] == [False, True, True, True]
        assert len(server.requests) == 4  # equal prompts are not paid for twice


def test_a_healed_module_still_passes_its_tests_after_a_change() -> None:
    Path("topk.py").write_text(WRONG_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    changed = GOOD_CODE.replace('"k must', 'f"{k} must')

    def answer(request: dict[str, Any]) -> Reply:
        text = str(request["messages"][-1]["content"])
        return Reply(fence(changed if "Show k" in text else GOOD_CODE))

    with OpenAIServer(answer) as server:
        call = ("heal", "topk.py", "--tests", "test_topk.py", "--seconds", "0.1", "--mutants", "5")
        with session(server, *call, "--run-dir", "run", "--approve") as at_work:
            assert "raise ValueError" in at_work.until(QUESTION)
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type("Show k in the error.")
            assert 'f"{k} must' in at_work.until(QUESTION)
            at_work.type("r")
            assert at_work.end() == 1
    assert Path("topk.py").read_text() == WRONG_CODE


def test_a_healthy_module_asks_no_question() -> None:
    Path("topk.py").write_text(GOOD_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    with OpenAIServer(healing) as server:
        call = ("heal", "topk.py", "--tests", "test_topk.py", "--mutants", "5", "--approve")
        with session(server, *call) as at_work:
            assert at_work.end() == 0
            assert "ccept" not in at_work.screen
        assert server.requests == []


def scripting(request: dict[str, Any]) -> Reply:
    text = str(request["messages"][-1]["content"])
    if tool_of(request) == "propose_checks":
        return Reply(fence(json.dumps([{"check": "stdout", "contains": "Total"}]), "json"))
    total = "'six'" if "in words" in text else "6"
    return Reply(fence(f"print('Total:', {total})\n"))


def test_a_script_is_changed_in_words() -> None:
    call = ("script", "Add up 1 to 3.", "-o", "add.py", "--run-dir", "run", "--approve")
    with OpenAIServer(scripting) as server:
        with session(server, *call) as at_work:
            shown = at_work.until(QUESTION)
            assert "checks derived from the task:" in shown
            assert "standard output holds 'Total'" in shown
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type("Say the sum in words.")
            assert "+print('Total:', 'six')" in at_work.until(QUESTION)
            assert not Path("add.py").exists()
            at_work.type("a")
            assert at_work.end() == 0
        assert Path("add.py").read_text() == "print('Total:', 'six')\n"
        # When resumed, all of it is in the log; rejecting writes nothing.
        Path("add.py").unlink()
        paid = len(server.requests)
        with session(server, "resume", "run", "--approve") as at_work:
            at_work.until(QUESTION)
            at_work.type("r")
            assert at_work.end() == 1
        assert len(server.requests) == paid
    assert not Path("add.py").exists()
