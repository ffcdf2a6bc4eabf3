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
from tests.support.answers import GOOD_CODE, SPECIFICATION, contract_answer, fenced, suite_answer
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
