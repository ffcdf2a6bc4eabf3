"""What a terminal shows of a recorded run, in tmux at two widths and after a resize."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "reporting" / "golden"
DONE = "the shell is back"


class Screen:
    """A tmux server of its own, with one window."""

    def __init__(self, width: int, command: str) -> None:
        self._name = f"greenloop-{uuid.uuid4().hex[:12]}"
        size = ("-x", str(width), "-y", "60")
        shell = f"bash --norc --noprofile -c {shlex.quote(command)}"
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, shell)

    def text(self) -> str:
        """All that was shown, without the spaces at the ends of lines."""
        shown = self._tmux("capture-pane", "-p", "-S", "-500")
        return "\n".join(line.rstrip() for line in shown.splitlines()).strip() + "\n"

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


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[int], Screen]]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    opened: list[Screen] = []

    def start(width: int) -> Screen:
        call = f"{sys.executable} -m greenloop examples/roman_numerals.md --run-dir run"
        replay = "--model replay:examples/roman_numerals.jsonl --mutants 5"
        settings = f"cd {tmp_path}; export GREENLOOP_GRADING_SECONDS=200"
        opened.append(Screen(width, f"{settings}; {call} {replay} > out; echo {DONE}; sleep 500"))
        return opened[-1]

    yield start
    for item in opened:
        item.close()


def normal(text: str) -> str:
    """Without what differs from one machine or run to the next: wall, times, counts of mutants."""
    text = re.sub(r"^sandbox .*?(?=^\S)", "sandbox  WALL\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\d+\.\d s", "N s", text)
    return re.sub(r"^(grading  ).*?(?=^\S)", r"\1EVIDENCE\n", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("width", [80, 120])
def test_a_recorded_run_on_screen(screen: Callable[[int], Screen], width: int) -> None:
    shown = normal(screen(width).until(lambda text: DONE in text))
    golden = GOLDEN / f"screen-{width}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text("utf-8")
    assert max(len(line) for line in shown.splitlines()) <= width


def test_it_counts_on_while_nothing_is_answered_and_survives_a_resize(
    screen: Callable[[int], Screen],
) -> None:
    at_work = screen(120)
    at_work.until(lambda text: "at work here" in text)
    at_work.resize(70)
    shown = at_work.until(lambda text: DONE in text)
    assert "at work here" not in shown  # what is drawn over leaves nothing behind
    assert shown.count("attempt  1 generate") == 1
