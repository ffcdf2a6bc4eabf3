"""Commands and programs in README and docs are run, or listed with the reason why not."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import KEY
from tests.integration.cli.test_batch import QUICK
from tests.slow.documented_commands import (
    CHECKED,
    RECORDED,
    ROOT,
    RUN_WHOLE,
    SERVED,
    WEAK,
    blocks,
    sample_after,
)
from tests.support.many_specifications import (
    ManySpecifications,
    specification,
    write_specifications,
)
from tests.support.openai_server import OpenAIServer
from tests.support.programs import read_program

CODE = '''def top_k(xs: list[int], k: int) -> list[int]:
    """The k largest numbers of xs, largest first."""
    if k < 0:
        raise ValueError("k must not be negative")
    return sorted(xs, reverse=True)[:k]
'''
TESTS = read_program(__file__, "TESTS")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, in which greenloop is the one under test."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GREENLOOP_GRADING_SECONDS", "200")  # for busy machines
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("document", RUN_WHOLE)
def test_the_commands_of_a_document(document: str, clone: Path) -> None:
    scripts = blocks(document, "sh")
    assert scripts
    said = run_command(["bash", "-euo", "pipefail", "-c", "\n".join(scripts)])
    if document == "docs/tutorial.md":
        assert "passed: 1 of 1 test passes" in said
        assert "verified: 2 of 2 tests pass" in said
        assert "status 1" in said
        assert "<!doctype html>" in Path("roman.html").read_text("utf-8").lower()


def test_the_recorded_runs_of_the_readme(clone: Path) -> None:
    lines = "\n".join(blocks("README.md", "")).splitlines()
    calls = {line[line.index("greenloop ") :] for line in lines if "replay:" in line}
    assert calls
    for call in calls:
        said = run_command(["bash", "-c", f"{call} --json"])  # with the card of a terminal
        assert "✓ verified" in said
        (whole,) = [line for line in lines if line.endswith(call)]
        assert_shown(sample_after(whole), said)


def test_the_check_of_the_readme_prints_what_is_shown(clone: Path) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{WEAK} --json"], capture_output=True, text=True, timeout=500
    )
    assert ended.returncode in (0, 1), ended.stderr
    assert_shown(sample_after(WEAK), ended.stdout + ended.stderr)
    tests = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/check"]
    assert "6 passed" in run_command(tests)


def test_commands_that_need_a_model(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shown, but for placeholders."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    write_specifications(2)
    Path("many.jsonl").write_text(json.dumps({"id": "a", "spec": specification(7)}) + "\n")
    with OpenAIServer(ManySpecifications()) as server:
        own = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "GITHUB_STEP_SUMMARY": "md"}
        for name, value in (own | QUICK).items():
            monkeypatch.setenv(name, value)
        for command in SERVED:
            run_command(
                ["bash", "-c", command.replace("RUN_DIR", _run_dir()).replace(":NAME", ":served")]
            )
    assert "def top_k" in Path("topk.py").read_text("utf-8")
    assert Path("page.html").stat().st_size > 5000
    assert "passed: `topk`" in Path("md").read_text("utf-8")
    assert Path("src/top_1.greenloop.json").is_file()


def _run_dir() -> str:
    return next((str(path) for path in Path(".greenloop/runs").glob("*")), "none yet")


@pytest.mark.parametrize("command", RECORDED)
def test_recorded_commands_print_what_is_shown(
    command: str, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone / "examples" / RECORDED[command])
    monkeypatch.setenv("GREENLOOP_MODEL", "replay:answers.jsonl")
    options = ["--yes"] if " heal " in command else ["--json"]  # with the card of a terminal
    said = run_command([*shlex.split(command), *options])
    if RECORDED[command] != "heal_text_tools":  # shown is the output of another example
        assert_shown(sample_after(command), said)


@pytest.mark.parametrize(
    ("folder", "call", "status"),
    [
        ("heal_unhealable", "rounding.py --tests test_rounding.py --max-repairs 2", 1),
        ("heal_without_model", "versions.py --tests test_versions.py --model none", 0),
    ],
)
def test_output_that_is_shown_of_other_examples(
    folder: str, call: str, status: int, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone / "examples" / folder)
    monkeypatch.setenv("GREENLOOP_MODEL", "replay:answers.jsonl")
    ended = subprocess.run(
        ["greenloop", "heal", "--yes", *call.split()], capture_output=True, text=True
    )
    assert ended.returncode == status, ended.stderr
    mark = "test_half_a_cent" if status else "boundary: `>=`"
    (sample,) = [item for item in blocks("docs/heal.md", "") if mark in item]
    assert_shown(sample, ended.stdout + ended.stderr)


def test_the_checks_of_the_docs_run(clone: Path) -> None:
    for code, tests in (("m.py", "test_m.py"), ("src/m.py", "tests/test_m.py")):
        for name, text in ((code, CODE), (tests, TESTS)):
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
    assert "verified: 2 of 2" in run_command(shlex.split(CHECKED[0]))
    said = run_command(["bash", "-c", f"{CHECKED[1]} 2> progress"])
    assert json.loads(said)["verdict"] == "verified"


def assert_shown(sample: str, said: str) -> None:
    """Compare each line of a sample with the output, but for times and for what is left out."""
    printed = {normal(line) for line in said.splitlines()}
    lines = [normal(line) for line in sample.splitlines()]
    assert lines
    assert [line for line in lines if line.strip() != "…" and line not in printed] == []


def normal(line: str) -> str:
    line = re.sub(r"\d+ edits tried", "N edits tried", line.rstrip())
    line = re.sub(r"(\d+) of \1 inputs", "all of N inputs", line)  # time limits how many
    return re.sub(r"\d+\.\d s\b", "N s", line)
