"""The documents: sizes, links, references made from code, the site, and programs in Python."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.slow.documented_commands import (
    CHECKED,
    LEFT_OUT,
    RECORDED,
    ROOT,
    SERVED,
    SHOWING,
    WEAK,
    blocks,
    commands,
)
from tests.slow.test_script_examples import COMMANDS, ENDS
from tests.support.references import render_all

LINKING = (*SHOWING, "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")


@pytest.mark.slow
@pytest.mark.parametrize("program", blocks("docs/python.md", "python"))
def test_programs_run(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GREENLOOP_HOME", str(tmp_path))
    exec(compile(program, "a program in docs/python.md", "exec"), {"__name__": "program"})
    assert "failed" not in capsys.readouterr().out


def test_the_readme_is_short_and_names_the_command_that_runs_the_tests() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.encode()) <= 6_000
    assert ".venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest" in text


def test_references_are_those_of_the_code() -> None:
    """Else: python -m tests.support.references"""
    for name, text in render_all().items():
        assert (ROOT / name).read_text("utf-8") == text, name


def test_every_example_is_described() -> None:
    text = (ROOT / "examples" / "README.md").read_text("utf-8")
    assert [p for p in (ROOT / "examples").glob("*.jsonl") if f"| `{p.stem}` |" not in text] == []


def test_every_command_is_run_or_listed_with_a_reason() -> None:
    shown = {line for document in SHOWING for line in commands(document)}
    run = {*SERVED, *RECORDED, *CHECKED, WEAK}
    assert shown - run - LEFT_OUT.keys() == set()
    assert (run | LEFT_OUT.keys()) - shown == set()
    assert len(commands("examples/README.md")) == len(COMMANDS) == len(ENDS)


def test_every_page_is_in_the_navigation() -> None:
    pages = re.findall(r'= "([\w-]+\.md)"', (ROOT / "zensical.toml").read_text("utf-8"))
    assert sorted(pages) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("document", LINKING)
def test_links_lead_to_files_and_headings(document: str) -> None:
    for file, heading in re.findall(r"\]\(([^)#\s:]*)(?:#([^)\s]+))?\)", read(document)):
        path = (ROOT / document).parent / file if file else ROOT / document
        assert path.exists(), file
        if heading:
            assert heading in headings(path), f"{file}#{heading}"


def read(document: str) -> str:
    """Return a document without its code, in blocks and in lines."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text("utf-8"), flags=re.M | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    if not (zensical := shutil.which("zensical")):
        pytest.skip("Zensical is not installed: pip install --group docs")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    command = [zensical, "build", "--strict"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "site" / "tutorial" / "index.html").is_file()
