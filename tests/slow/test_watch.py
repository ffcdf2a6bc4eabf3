"""`check --watch` in tmux: saves, a failing test, and a file that is no Python."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import read_program
from tests.support.tmux_screen import Screen

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Screen, Path]]:
    """Watch a module in a terminal."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    (tmp_path / "clamping.py").write_text(CODE, "utf-8")
    (tmp_path / "test_clamping.py").write_text(TESTS, "utf-8")
    command = f"cd {tmp_path}; GREENLOOP_HOME=home {sys.executable} -m greenloop check --watch"
    command = f"{command} clamping.py test_clamping.py; echo status $?; sleep 500"
    screen = Screen(80, command, height=120)
    try:
        yield screen, tmp_path
    finally:
        screen.close()


def test_watch(watched: tuple[Screen, Path]) -> None:
    screen, folder = watched

    def until(words: str) -> str:
        screen.until(lambda shown: words in shown and shown.endswith("press Ctrl-C to stop\n"))
        return screen.get_colored_text()

    assert "no test" in until("2 of 2 tests pass")
    # A save is noticed; nothing of the last result stays on the screen.
    (folder / "clamping.py").write_text(CODE.replace("return low\n", "return high\n"), "utf-8")
    assert "2 of 2 tests pass" not in until("1 of 2 tests pass")
    (folder / "clamping.py").write_text("def clamp(:", "utf-8")
    shown = until("clamping.py is not Python")
    assert "clamping.py is not Python" in "".join(shown.splitlines()[:2])
    assert "tests pass" not in shown
    screen.type("C-c")
    assert "status 0" in screen.until(lambda shown: "status " in shown)
