"""greenloop at a pseudo-terminal: tests wait for output and type replies."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.openai_server import OpenAIServer

_QUICK = {"GREENLOOP_MUTANTS": "0", "GREENLOOP_HARDENING_ROUNDS": "0", "GREENLOOP_PEER": "0"}
QUESTION = "[c]hange in words? "


class Session:
    """A process with a terminal of its own; standard output goes to the file `out`."""

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
        """Wait for a text and return what the terminal showed since the last call."""
        self._wait(lambda: text in self.screen[self._read :], text)
        start, self._read = self._read, self.screen.index(text, self._read) + len(text)
        return self.screen[start : self._read].replace("\r\n", "\n")

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    def end(self) -> int:
        """Return the exit status."""
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
                except OSError:  # the process closed its end
                    time.sleep(0.05)


@contextmanager
def session(server: OpenAIServer, *arguments: str, **more: str) -> Iterator[Session]:
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none", "TERM": "dumb"} | _QUICK | more
    at_work = Session(*arguments, env=env)
    try:
        yield at_work
    finally:
        at_work.close()
