"""What the README shows in Python runs as it stands there; what it says of options is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from greenloop.cli.main import app

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippets_run(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GREENLOOP_HOME", str(tmp_path))
    exec(compile(SNIPPETS[number], f"README snippet {number}", "exec"), {"__name__": "snippet"})
    assert "failed" not in capsys.readouterr().out


def test_every_option_of_make_is_in_the_readme_and_the_other_way_round() -> None:
    shown = set(re.findall(r"^\| `(--[a-z-]+)", README, re.MULTILINE))
    offered = set(re.findall(r"(--[a-z-]+)", CliRunner().invoke(app, ["make", "--help"]).output))
    assert offered - shown == {"--verbose", "--help"}  # --verbose stands beside --quiet
    assert shown - offered == set()


def test_every_example_is_in_the_readme() -> None:
    for path in (ROOT / "examples").glob("*.jsonl"):
        assert f"| `{path.stem}` |" in README


def test_every_variable_of_the_example_file_is_a_setting() -> None:
    from greenloop.settings import Settings

    known = {field.validation_alias for field in Settings.model_fields.values()}
    names = re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert len(names) > 10
    assert set(names) <= known
