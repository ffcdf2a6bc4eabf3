"""The entry point: a sandbox that a check will need begins to start before the imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop import __main__ as start
from greenloop.sandbox import opening

MODULE = "def add(a, b):\n    return a + b\n"
TESTS = "from m import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
UNUSED = (
    *("greenloop.specification", "greenloop.autofix", "greenloop.repair", "greenloop.batch"),
    *("greenloop.evals", "greenloop.hosts", "greenloop.integrations", "greenloop.tools"),
    *("greenloop.project.code_map", "greenloop.project.tree", "greenloop.workflow.change"),
    *("greenloop.workflow.storage.request", "greenloop.workflow.storage.choices_file"),
    *("greenloop.app.inputs.script_inputs", "greenloop.scripts.checks", "greenloop.llm.client"),
    *("greenloop.llm.response_log", "greenloop.records.batch", "greenloop.records.evaluation"),
    *("greenloop.records.generation", "greenloop.tracing.spans"),
    *(
        "greenloop.sandbox.network.proxy",
        "greenloop.cli.options.groups",
        "greenloop.cli.options.runs",
    ),
    *("langchain_core", "langgraph", "libcst", "rich", "ray", "multiprocessing", "unittest"),
)


@pytest.mark.parametrize(
    ("arguments", "is_started"),
    [
        ("check m.py test_m.py", True),
        ("check m.py test_m.py --json", True),
        ("check --help", False),
        ("check m.py test_m.py --sandbox none", False),
        ("check m.py test_m.py --sandbox=none", False),
        ("check m.py test_m.py --spec text.md --model openai:x", False),
        ("check --watch m.py test_m.py", False),
        ("make text.md", False),
        ("--help", False),
        ("", False),
    ],
)
def test_only_a_check_starts_processes(
    monkeypatch: pytest.MonkeyPatch, arguments: str, is_started: bool
) -> None:
    started: list[object] = []

    def note(kind: str | None) -> None:
        started.append(kind)

    monkeypatch.setattr(opening, "start_zygotes", note)
    start._start_zygotes(arguments.split())
    assert started == [None] * is_started


def run_program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "greenloop", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_what_was_started_serves_the_check(files: Path) -> None:
    assert run_program(files, "check", "m.py", "test_m.py").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "used"),
    [("check m.py test_m.py", "greenloop.grading.grader"), ("verify .", "greenloop.records.batch")],
)
def test_commands_import_nothing_that_they_do_not_use(
    files: Path, arguments: str, used: str
) -> None:
    """What is named in UNUSED serves texts, projects, scripts, models, networks, or repairs."""
    command = [sys.executable, "-X", "importtime", "-m", "greenloop", *arguments.split()]
    ran = subprocess.run(command, cwd=files, capture_output=True, text=True, timeout=60)
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", ran.stderr, re.MULTILINE))
    assert {"greenloop.app.check", used} <= loaded
    found = {item for item in loaded for name in UNUSED if f"{item}.".startswith(f"{name}.")}
    assert found <= {used}


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


def test_an_interruption_before_the_imports_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(arguments: object) -> None:
        raise KeyboardInterrupt

    def leave(status: int) -> None:
        raise SystemExit(status)

    monkeypatch.setattr(start, "_start_zygotes", interrupt)
    monkeypatch.setattr("os._exit", leave)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "greenloop: interrupted\n")
