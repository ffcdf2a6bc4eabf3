"""The program, started as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = "def add(a, b):\n    return a + b\n"
TESTS = "from m import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"


def run_program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "greenloop", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_a_check_of_weak_tests_is_told_by_its_status(files: Path) -> None:
    (files / "test_m.py").write_text(
        TESTS.replace("add(1, 2) == 3", "add(0, 0) == 0"), encoding="utf-8"
    )
    assert run_program(files, "check", "m.py", "test_m.py").returncode == 1
    assert run_program(files, "check", "m.py", "test_m.py", "--require", "passed").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("check", "none.py", "test_m.py"), "greenloop: none.py does not exist; check the path\n"),
        (("check", "--nothing"), "greenloop: no such option: --nothing; did you mean --in?\n"),
    ],
)
def test_bad_input_still_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], error: str
) -> None:
    ended = run_program(tmp_path, *arguments)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", error)
