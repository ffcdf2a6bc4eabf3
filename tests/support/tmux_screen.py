"""A program on a screen of tmux: its text, keys, and a resize."""

import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable


class Screen:
    """A tmux server with one window."""

    def __init__(self, width: int, command: str, height: int = 60) -> None:
        self._name = f"greenloop-{uuid.uuid4().hex[:12]}"
        size = ("-x", str(width), "-y", str(height))
        shell = f"bash --norc --noprofile -c {shlex.quote(command)}"
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, shell)

    def text(self) -> str:
        """Return all output, without spaces at the ends of lines."""
        shown = self._tmux("capture-pane", "-p", "-S", "-500")
        return "\n".join(line.rstrip() for line in shown.splitlines()).strip() + "\n"

    def get_colored_text(self) -> str:
        """Return what is on the screen now, with escape sequences for its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def type(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        for key in keys:
            self._tmux("send-keys", key)

    def resize(self, width: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", "60")

    def until(self, there: Callable[[str], bool]) -> str:
        ends = time.monotonic() + 400
        while not there(text := self.text()):
            assert time.monotonic() < ends, text
            time.sleep(0.2)
        return text

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, *arguments]
        env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
