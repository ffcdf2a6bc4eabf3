"""The table of error cases: what the user does, the exit status, and the one line that is printed."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Run
from tests.support.programs import read_table

PROVIDERS = "anthropic, google_genai, groq, mistralai, ollama, openai, replay"


@dataclass(frozen=True)
class Case:
    """Arguments and surroundings of a command, and what it answers."""

    arguments: list[str]
    status: int
    line: str
    environment: dict[str, str] = field(default_factory=dict)
    dotenv: str = ""


CASES = {name: Case(**row) for name, row in read_table(__file__, "CASES").items()}


@pytest.fixture(autouse=True)
def project() -> None:
    """A module with a test, and files that are wrong in one way each."""
    Path("m.py").write_text("def double(x):\n    return 2 * x\n")
    test = "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
    Path("test_m.py").write_text(test)
    Path("other.py").write_text("x = 1\n")
    Path("test_empty.py").write_text("import m\n")
    Path("wrong.py").write_text("def is_adult(age):\n    return age > 18\n")
    Path("test_wrong.py").write_text(
        "from wrong import is_adult\n\n\ndef test_limits():\n"
        "    assert is_adult(18)\n    assert is_adult(19)\n    assert not is_adult(17)\n"
    )
    Path("r.jsonl").write_text("")
    Path("gone.md").symlink_to("nowhere.md")


def error_lines(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("greenloop: ")]


@pytest.mark.parametrize("name", CASES)
def test_an_error_is_one_line_with_cause_and_remedy(run: Run, name: str) -> None:
    case = CASES[name]
    if case.dotenv:
        Path(".env").write_text(case.dotenv)
    status, out, err = run(*case.arguments, **case.environment)
    line = case.line.replace("PROVIDERS", PROVIDERS)
    assert error_lines(err) == [f"greenloop: {line}"], err
    assert status == case.status
    as_json = "--json" in case.arguments or "json" in case.arguments
    assert ('"verdict": "failed"' in out) == as_json
    assert as_json or "verdict" not in out
    if status == 2:
        assert err.count("\n") == 1, err
        assert not list(Path(".greenloop/runs").glob("*")), "a usage error leaves no run directory"


WARNINGS = read_table(__file__, "WARNINGS")


@pytest.mark.parametrize("name", WARNINGS)
def test_a_setting_that_is_ignored_is_named_and_stops_nothing(run: Run, name: str) -> None:
    environment, dotenv, line = WARNINGS[name]
    Path(".env").write_text(dotenv)
    status, _, err = run("check", "m.py", "test_empty.py", "--quiet", **environment)
    assert (status, error_lines(err)[0]) == (2, f"greenloop: {line}")
    assert "dotenv" not in err.lower().replace("greenloop: warning: .env", "")


def test_a_missing_file_is_reported_before_anything_heavy_is_imported() -> None:
    code = (
        "import sys\nfrom greenloop.cli.main import app\n"
        "try:\n    app(['check', 'nope.py', 'test_m.py'], prog_name='greenloop')\n"
        "except SystemExit as ended:\n    print(ended.code, *sys.modules)\n"
    )
    root = str(Path(__file__).parents[3])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    status, *modules = ended.stdout.split()
    assert (status, ended.stderr) == ("2", "greenloop: nope.py does not exist; check the path\n")
    assert not {"jinja2", "rich", "langchain_core", "greenloop.grading"} & set(modules)
