"""`check --watch` in tmux: a save, keys, and a test of a model that is written on yes alone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.model_responses import fence
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.programs import read_program
from tests.support.tmux_screen import Screen

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
ADDED = '''from clamping import clamp


def test_high():
    """R1: the upper bound."""
    assert clamp(9, 1, 3) == 3
'''
KEYS = "a run all"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Screen, Path]]:
    """Watch a module at 80×24, with a model that answers each request with one test."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    (tmp_path / "clamping.py").write_text(CODE, "utf-8")
    (tmp_path / "test_clamping.py").write_text(TESTS, "utf-8")
    with OpenAIServer(lambda _request: Reply(fence(ADDED))) as server:
        settings = f"OPENAI_BASE_URL={server.url} OPENAI_API_KEY=none GREENLOOP_HOME=home"
        command = f"cd {tmp_path}; {settings} {sys.executable} -m greenloop check --watch"
        screen = Screen(
            80,
            f"{command} clamping.py test_clamping.py --model openai:m; echo status $?; sleep 500",
            height=24,
        )
        try:
            yield screen, tmp_path
        finally:
            screen.close()


def test_watch(watched: tuple[Screen, Path]) -> None:
    screen, folder = watched
    text = screen.until(lambda shown: "○ passed  2 of 2 tests pass" in shown)
    assert "› line " in text
    assert "no test" in text
    assert KEYS in text
    assert max(map(len, text.splitlines())) <= 80

    screen.type("s")
    screen.until(lambda shown: "\n    +" in shown)
    screen.type("Down")
    first = text[text.index("› line ") :].splitlines()[0]
    screen.until(lambda shown: "› line " in shown and first not in shown)

    # A save is noticed; a failing test is shown with its assertion.
    (folder / "clamping.py").write_text(CODE.replace("return low\n", "return high\n"), "utf-8")
    text = screen.until(lambda shown: "✗ failed  1 of 2 tests pass" in shown)
    assert "✗ test_low\n    AssertionError: assert 3 == 1" in text
    (folder / "clamping.py").write_text(CODE, "utf-8")
    screen.until(lambda shown: "○ passed  2 of 2 tests pass" in shown)

    # Nothing is written without yes.
    for answer, tests in (("n", TESTS), ("y", "def test_high()")):
        screen.type("h")
        text = screen.until(lambda shown: "[y/N]" in shown)
        assert "+def test_high():" in text
        assert "it passes on the code" in text
        screen.type(answer)
        screen.until(lambda shown: "[y/N]" not in shown)
        assert tests in (folder / "test_clamping.py").read_text("utf-8")
        assert ("def test_high()" in (folder / "test_clamping.py").read_text("utf-8")) is (
            answer == "y"
        )
    screen.until(lambda shown: "3 of 3 tests pass" in shown)
    screen.type("a")
    screen.until(lambda shown: "… " in shown)
    screen.type("q")
    assert "status 0" in screen.until(lambda shown: "status " in shown)
