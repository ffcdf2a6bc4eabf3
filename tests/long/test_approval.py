"""`--approve` at a pseudo-terminal: what is shown, what is asked, and what goes on."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.conftest import KEY
from tests.e2e.test_batch import QUICK
from tests.support.answers import (
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    WRONG_CODE,
    contract_answer,
    fenced,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of

QUESTION = "[c]hange in words? "
WISH = "An empty list gives an empty list."
EDITOR = """import pathlib, sys
path, good = pathlib.Path(sys.argv[1]), pathlib.Path('good').exists()
text = path.read_text()
path.write_text(text.replace('largest first', 'EDITED, largest first') if good else '{')
"""


def answered(request: dict[str, Any]) -> Reply:
    """A good answer of each tool; the tests name each requirement that there is."""
    text = "\n".join(str(item["content"]) for item in request["messages"])
    suite = suite_answer()
    if "\nR3. " in text:
        suite = suite.replace('"""R1: all', '"""R1, R3: all')
    answers = {
        "parse_specification": contract_answer(),
        "generate_code": fenced(GOOD_CODE),
        "generate_tests": suite,
        "review_code": "LGTM",
    }
    return Reply(answers[tool_of(request)])


class Session:
    """A process at a terminal of its own; standard output goes to the file `out`."""

    def __init__(self, *arguments: str, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self.screen, self._read = "", 0
        with open("out", "wb") as out:
            command = [sys.executable, "-m", "greenloop", *arguments]
            self.process = subprocess.Popen(
                command, stdin=slave, stdout=out, stderr=slave, env=os.environ | env
            )
        os.close(slave)

    def until(self, text: str) -> str:
        """What the screen showed up to there, since the last call."""
        self._wait(lambda: text in self.screen[self._read :], text)
        start, self._read = self._read, self.screen.index(text, self._read) + len(text)
        return self.screen[start : self._read].replace("\r\n", "\n")

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    def end(self) -> int:
        """The exit status."""
        self._wait(lambda: self.process.poll() is not None, "the end")
        return self.process.wait()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _wait(self, there: Callable[[], bool], what: str) -> None:
        ends = time.monotonic() + 240
        while not there():
            assert time.monotonic() < ends, f"no {what!r} in {self.screen[-2000:]}"
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self.screen += os.read(self._master, 65536).decode("utf-8", "replace")
                except OSError:  # nobody is at the other end any more
                    time.sleep(0.05)


@contextmanager
def session(server: OpenAIServer, *arguments: str, **more: str) -> Iterator[Session]:
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "NO_COLOR": "1"} | QUICK | more
    at_work = Session(*arguments, env=env)
    try:
        yield at_work
    finally:
        at_work.close()


def test_edited_changed_in_words_and_accepted() -> None:
    Path("editor.py").write_text(EDITOR)
    editor = f"{sys.executable} editor.py"
    call = (SPECIFICATION, "-o", "topk.py", "--run-dir", "run", "--approve")
    with OpenAIServer(answered) as server:
        with session(server, *call, EDITOR=editor) as at_work:
            shown = at_work.until(QUESTION)
            assert "+def top_k(" in shown
            assert "+def test_negative(" in shown
            assert "passed: " in shown
            assert "open assumptions" in shown
            at_work.type("what?")
            at_work.until(QUESTION)
            at_work.type("e")  # and leaves what is no contract
            assert "to mend it" in at_work.until(QUESTION)
            Path("good").touch()
            Path("run/contract.json").unlink()
            at_work.type("e")
            at_work.until(QUESTION)
            edited = json.loads(Path("run/run.json").read_text())["contract"]
            assert "EDITED" in json.dumps(edited)
            assert not Path("topk.py").exists()
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type(WISH)
            at_work.until(QUESTION)
            assert not Path("topk.py").exists()
            at_work.type("a")
            assert at_work.end() == 0
        tools = server.tools()
        assert tools.count("parse_specification") == 1  # equal prompts are not paid for twice
        assert tools.count("generate_code") == 3
        last = next(item for item in reversed(server.requests) if tool_of(item) == "generate_tests")
        text = json.dumps(last["messages"])
        assert f"R3. {WISH}" in text
        assert "EDITED" in text
        assert Path("topk.py").read_text() == GOOD_CODE
        # The run keeps both: who resumes it is asked about the same code, and nobody is paid.
        Path("topk.py").unlink()
        with session(server, "resume", "run", "--approve") as at_work:
            assert "+def top_k(" in at_work.until(QUESTION)
            at_work.type("r")
            assert at_work.end() == 1
            assert "rejected: nothing was written" in at_work.screen
        assert len(server.requests) == len(tools)
    assert not Path("topk.py").exists()
    assert Path("out").read_text() == ""


# --- heal and script

HEAL_WISH = "Print the sum as well."
BROKEN = "values = [3, 1, 2]\nprint(max(value))\n"
HEALED = BROKEN.replace("(value)", "(values)")
CHANGED = HEALED + "print(sum(values))\n"


def healing(request: dict[str, Any]) -> Reply:
    """Heals first; then does what the last wish says, the impossible one wrongly."""
    text = str(request["messages"][-1]["content"])
    if "impossible" in text:
        return Reply(fenced(HEALED + "print(nothing)\n"))
    return Reply(fenced(CHANGED if HEAL_WISH in text else HEALED))


def test_a_healed_script_is_changed_in_words_and_accepted() -> None:
    Path("old.py").write_text(BROKEN)
    with OpenAIServer(healing) as server:
        call = ("heal", "old.py", "--run-dir", "run", "--approve", "--max-repairs", "1")
        with session(server, *call) as at_work:
            shown = at_work.until(QUESTION)
            assert "+print(max(values))" in shown
            assert "[e]dit" not in shown
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
            assert "asked for later and not done: Do the impossible.: exit status 0" in shown
            assert "+print(sum(values))" in shown  # what was reached before stands
            assert Path("old.py").read_text() == BROKEN
            at_work.type("a")
            assert at_work.end() == 0
        assert Path("old.py").read_text() == CHANGED
        asked = [str(item["messages"][-1]["content"]) for item in server.requests]
        assert [HEAL_WISH in text for text in asked] == [False, True, True, True]
        assert len(server.requests) == 4  # equal prompts are not paid for twice


def test_a_healed_module_keeps_to_its_tests_when_it_is_changed() -> None:
    Path("topk.py").write_text(WRONG_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    changed = GOOD_CODE.replace('"k must', 'f"{k} must')

    def answer(request: dict[str, Any]) -> Reply:
        text = str(request["messages"][-1]["content"])
        return Reply(fenced(changed if "Show k" in text else GOOD_CODE))

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


def test_a_module_that_is_healthy_is_no_question() -> None:
    Path("topk.py").write_text(GOOD_CODE)
    Path("test_topk.py").write_text(GOOD_TESTS)
    with OpenAIServer(healing) as server:
        call = ("heal", "topk.py", "--tests", "test_topk.py", "--mutants", "5", "--approve")
        with session(server, *call) as at_work:
            assert at_work.end() == 0
            assert "ccept" not in at_work.screen
        assert server.requests == []


CHECKS_EDITOR = """import pathlib, sys
path = pathlib.Path(sys.argv[1])
good = pathlib.Path('good').exists()
text = path.read_text()
assert 'Total' in text
path.write_text(text.replace('Total', 'Sum') if good else '[{"check": "nonsense"}]')
"""


def scripting(request: dict[str, Any]) -> Reply:
    text = str(request["messages"][-1]["content"])
    if tool_of(request) == "generate_tests":
        return Reply(fenced(json.dumps([{"check": "stdout", "contains": "Total"}]), "json"))
    script = "print('Sum:', 6)\n" if "Sum" in text else "print('Total:', 6)\n"
    return Reply(fenced(script.replace("6", "'six'") if "in words" in text else script))


def test_the_checks_of_a_script_are_edited_and_it_is_changed_in_words() -> None:
    Path("editor.py").write_text(CHECKS_EDITOR)
    editor = f"{sys.executable} editor.py"
    call = ("script", "Add up 1 to 3.", "-o", "add.py", "--run-dir", "run", "--approve")
    with OpenAIServer(scripting) as server:
        with session(server, *call, EDITOR=editor) as at_work:
            shown = at_work.until(QUESTION)
            assert "[e]dit the checks and go on" in shown
            assert "checked for, made of the task:" in shown
            assert "standard output holds 'Total'" in shown
            at_work.type("e")
            assert "to mend it" in at_work.until(QUESTION)
            Path("good").touch()
            Path("run/checks.json").unlink()
            at_work.type("e")
            shown = at_work.until(QUESTION)
            assert "+print('Sum:', 6)" in shown
            assert "made of the task" not in shown  # the checks are the person's now
            at_work.type("c")
            at_work.until("(one line)? ")
            at_work.type("Say the sum in words.")
            assert "+print('Sum:', 'six')" in at_work.until(QUESTION)
            assert not Path("add.py").exists()
            at_work.type("a")
            assert at_work.end() == 0
        assert Path("add.py").read_text() == "print('Sum:', 'six')\n"
        assert server.tools().count("generate_tests") == 1  # what was agreed on is not asked again
        # Resumed, all of it is in the log, and rejecting writes nothing.
        Path("add.py").unlink()
        paid = len(server.requests)
        with session(server, "resume", "run", "--approve") as at_work:
            at_work.until(QUESTION)
            at_work.type("r")
            assert at_work.end() == 1
        assert len(server.requests) == paid
    assert not Path("add.py").exists()
