"""The terminal view of a recorded run, in tmux at two widths and after a resize."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    contract_answer,
    fence,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.tmux_screen import Screen

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
GREENLOOP = f"{sys.executable} -m greenloop"
DONE = "the shell is back"


Open = Callable[[int, str], Screen]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Open]:
    """Start a command in an empty folder on a screen of a width; standard output goes to a file."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    screens: list[Screen] = []

    def start(width: int, command: str) -> Screen:
        settings = f"cd {tmp_path}; export GREENLOOP_GRADING_SECONDS=200"
        screens.append(Screen(width, f"{settings}; {command}; echo {DONE}; sleep 500"))
        return screens[-1]

    yield start
    for item in screens:
        item.close()


@pytest.fixture
def screen(opened: Open, tmp_path: Path) -> Callable[[int], Screen]:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    call = f"{GREENLOOP} examples/roman_numerals.md --run-dir run"
    replay = "--model replay:examples/roman_numerals.jsonl --mutants 5"
    return lambda width: opened(width, f"{call} {replay} > out")


@pytest.fixture
def slow() -> Iterator[str]:
    """Start greenloop with a model that delays code and tests."""
    waits = {"generate_code": 15.0, "generate_tests": 7.0}
    texts = {
        "parse_specification": contract_answer(),
        "generate_code": fence(GOOD_CODE),
        "generate_tests": suite_answer(),
        "review_code": "LGTM",
    }

    def answer(request: dict[str, Any]) -> Reply:
        tool = tool_of(request)
        return Reply(texts[tool], usage=(2_000, 50), pause_s=waits.get(tool, 0.0))

    with OpenAIServer(answer) as server:
        model = f"export OPENAI_BASE_URL={server.url} OPENAI_API_KEY=none GREENLOOP_HARDENING_ROUNDS=0 GREENLOOP_PEER=0"
        yield f"{model}; {GREENLOOP} {shlex.quote(SPECIFICATION)} --run-dir run --mutants 0"


def golden(name: str, shown: str) -> str:
    """Return the content of a golden file, which UPDATE_GOLDEN=1 writes anew."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    return path.read_text("utf-8")


def normal(text: str) -> str:
    """Remove what differs between machines and runs: backend, times, counts of mutants."""
    text = re.sub(r"^sandbox .*?(?=^\S)", "sandbox  WALL\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(  time +).*", r"\1TIME", text, flags=re.MULTILINE)
    text = re.sub(r"\d+\.\d s", "N s", text)
    text = re.sub(r"\d+ of \d+ inputs", "N inputs", text)
    return re.sub(r"^(grading  ).*?(?=^\S)", r"\1EVIDENCE\n", text, flags=re.MULTILINE | re.DOTALL)


def remove_seconds(text: str) -> str:
    """Remove the seconds of running steps, and those since the start."""
    return re.sub(r"\b\d+:\d\d$", "N:NN", re.sub(r": \d+ s", ": N s", text), flags=re.M)


def test_a_recorded_run_on_screen(screen: Callable[[int], Screen]) -> None:
    shown = normal(screen(80).until(lambda text: DONE in text))
    assert shown == golden("screen-80", shown)
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_the_picture_of_the_documentation_is_a_capture_of_today() -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    command = [sys.executable, "-m", "bench.terminal_picture", "--check"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("width", [80, 120])
def test_concurrent_steps_are_shown_side_by_side(opened: Open, slow: str, width: int) -> None:
    at_work = opened(width, f"{slow} > out")
    shown = at_work.until(lambda text: "55 tokens" in text and "174 tokens" in text)
    shown = remove_seconds(normal(shown))
    assert shown == golden(f"side-by-side-{width}", shown)


def test_a_pipe_gets_a_progress_line_every_fifteen_seconds(opened: Open, slow: str) -> None:
    at_work = opened(400, f"{slow} 2>&1 > out | cat")
    lines = remove_seconds(normal(at_work.until(lambda text: DONE in text))).splitlines()
    waits = [line for line in lines if line.startswith("…")]
    both = (
        r"…        generate_code: N s(, \d+ tokens)?\n…        generate_tests: N s(, \d+ tokens)?"
    )
    assert re.fullmatch(both, "\n".join(waits[:2]))
    rest = "\n".join(line for line in lines if line not in waits) + "\n"
    assert rest == golden("piped", rest)


def test_the_elapsed_time_advances_and_survives_a_resize(
    screen: Callable[[int], Screen],
) -> None:
    at_work = screen(120)
    at_work.until(lambda text: re.search(r" \d:\d\d$", text, re.MULTILINE) is not None)
    at_work.resize(70)
    shown = at_work.until(lambda text: DONE in text)
    assert not re.search(r" \d:\d\d$", shown, re.MULTILINE)  # a redraw leaves nothing behind
    assert shown.count("attempt  1 generate") == 1
