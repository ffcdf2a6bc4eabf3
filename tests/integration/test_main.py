"""The entry point of the program."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = "def add(a, b):\n    return a + b\n"
TESTS = "from m import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
HEAVY = ("langchain", "langchain_core", "langgraph", "ray", "opentelemetry", "mcp")


def test_a_check_imports_no_model_package(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-X", "importtime", "-m", "greenloop", "check", "m.py", "test_m.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", ran.stderr, re.MULTILINE))
    assert "greenloop.grading.grader" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("check", "none.py", "test_m.py"), "greenloop: none.py does not exist; check the path\n"),
        (("check", "--nothing"), "greenloop: no such option: --nothing; did you mean --in?\n"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: tuple[str, ...], error: str) -> None:
    command = [sys.executable, "-m", "greenloop", *arguments]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", error)
