"""What README and docs show is run: every command and program that needs no key."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = ("docs/tutorial.md", "docs/recipes.md", "docs/security.md", "docs/evaluation.md")


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text("utf-8")
    return [body for found, body in _BLOCK.findall(text) if found == language]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, where greenloop is the one of these tests."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GREENLOOP_GRADING_SECONDS", "200")  # a busy machine gets its time
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_commands_of_a_document(document: str, clone: Path) -> None:
    scripts = blocks(document, "sh")
    assert scripts
    said = ran(["bash", "-euo", "pipefail", "-c", "\n".join(scripts)])
    if document == "docs/tutorial.md":
        assert "verified: " in said
        assert "status 1" in said
        assert "<!doctype html>" in Path("roman.html").read_text("utf-8").lower()


def test_the_recorded_runs_of_the_readme(clone: Path) -> None:
    lines = "\n".join(blocks("README.md", "")).splitlines()
    calls = {line[line.index("greenloop ") :] for line in lines if "replay:" in line}
    assert calls
    for call in calls:
        assert "verified: " in ran(["bash", "-c", call])


def test_the_programs_of_the_readme(clone: Path) -> None:
    """But those that leave something out."""
    programs = [item for item in blocks("README.md", "python") if "…" not in item]
    assert len(programs) >= 2
    for program in programs:
        ran([sys.executable, "-c", program])


@pytest.mark.parametrize(
    "document", ["README.md", *DOCUMENTS, "docs/grading.md", "docs/hosts.md", "docs/report.md"]
)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in link:
            assert ((ROOT / document).parent / link).exists(), link
