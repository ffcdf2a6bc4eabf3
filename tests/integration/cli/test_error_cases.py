"""The table of error cases: what the user does, the exit status, and the one line that is printed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Run

PROVIDERS = "anthropic, google_genai, groq, mistralai, ollama, openai, replay"


@dataclass(frozen=True)
class Case:
    """Arguments and surroundings of a command, and what it answers."""

    arguments: list[str]
    status: int
    line: str
    environment: dict[str, str] = field(default_factory=dict)
    dotenv: str = ""


CASES = {
    "mistyped command": Case(
        ["chekc", "m.py", "test_m.py"],
        2,
        "'chekc' is not a command; did you mean 'check'? (a specification: greenloop make chekc)",
    ),
    "specification without quotes": Case(
        ["Write", "a", "function", "-o", "x.py"],
        2,
        'the specification must be one argument; put it in quotes: greenloop "Write a function"',
    ),
    "unexpected argument": Case(
        ["report", "run", "again"], 2, "unexpected argument 'again'; see greenloop report --help"
    ),
    "unknown option": Case(
        ["check", "m.py", "test_m.py", "--mutant", "3"],
        2,
        "no such option: --mutant; did you mean --mutants?",
    ),
    "missing argument": Case(["make"], 2, "SPEC is missing; see greenloop make --help"),
    "option without its value": Case(["make", "Write f", "--model"], 2, "--model needs a value"),
    "not a number": Case(
        ["make", "Write f", "--max-repairs", "lots"],
        2,
        "--max-repairs lots must be a valid integer",
    ),
    "timeout of zero": Case(
        ["make", "Write f", "--timeout", "0"], 2, "--timeout 0 must be greater than 0"
    ),
    "mutants in words": Case(
        ["check", "m.py", "test_m.py", "--mutants", "lots"],
        2,
        "--mutants lots must be 0 or more, or all",
    ),
    "unknown choice": Case(
        ["check", "m.py", "test_m.py", "--require", "perfect"],
        2,
        "--require perfect must be 'verified' or 'passed'",
    ),
    "two bad settings": Case(
        ["check", "m.py", "test_m.py"],
        2,
        "MAX_REPAIR_ITERATIONS=-3 must be greater than or equal to 0; "
        "EXECUTION_TIMEOUT_SECONDS=many must be a valid number",
        {"EXECUTION_TIMEOUT_SECONDS": "many"},
        "MAX_REPAIR_ITERATIONS=-3\n",
    ),
    "missing specification": Case(
        ["spec.md"], 2, "spec.md does not exist; check the path, or give the text in quotes"
    ),
    "missing module": Case(
        ["check", "mm.py", "test_m.py"], 2, "mm.py does not exist; did you mean m.py?"
    ),
    "missing tests": Case(
        ["heal", "m.py", "--tests", "no.py"], 2, "--tests no.py does not exist; check the path"
    ),
    "missing run": Case(["resume", "runs/1"], 2, "runs/1 does not exist; check the path"),
    "swapped files": Case(
        ["check", "test_m.py", "m.py"],
        2,
        "test_m.py is the test file: name the code first: greenloop check m.py test_m.py",
    ),
    "a test file without tests": Case(
        ["check", "m.py", "test_empty.py"],
        2,
        "test_empty.py contains no tests; pytest runs functions whose names begin with test_",
    ),
    "a test file of another module": Case(
        ["check", "other.py", "test_m.py"],
        2,
        "test_m.py never imports `other`; name the tests of other.py",
    ),
    "output that cannot be written": Case(
        ["Write f", "-o", "/proc/x/y.py"],
        2,
        "--output /proc/x/y.py cannot be written: no file can be created in /proc; choose another folder",
    ),
    "run directory that cannot be created": Case(
        ["Write f", "--run-dir", "/proc/run", "--model", "replay:r.jsonl"],
        2,
        "the run directory /proc/run cannot be created: No such file or directory; "
        "choose another with --run-dir or GREENLOOP_HOME",
    ),
    "unknown provider": Case(
        ["Write f", "--model", "foo:bar"],
        2,
        f"--model foo:bar: no such provider; use PROVIDER:NAME with one of {PROVIDERS}, or any "
        "other provider of LangChain",
    ),
    "unknown provider for a repair": Case(
        ["heal", "m.py", "--tests", "test_m.py", "--model", "foo:bar"],
        2,
        f"--model foo:bar: no such provider; use PROVIDER:NAME with one of {PROVIDERS}, or any "
        "other provider of LangChain",
    ),
    "no key": Case(
        ["Write f", "--model", "gpt-5.4"],
        3,
        "the model gpt-5.4 needs its API key; set OPENAI_API_KEY in the environment or in .env",
    ),
    "missing recording": Case(
        ["Write f", "--model", "replay:no.jsonl"],
        2,
        "--model replay:no.jsonl: no.jsonl cannot be read as a replay file: No such file or directory",
    ),
    "unreachable server": Case(
        ["Write f", "--model", "openai:x"],
        3,
        "openai-compatible:x: http://127.0.0.1:9 is not reachable; check that the server runs, "
        "and its address",
        {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    ),
    "unknown sandbox": Case(
        ["check", "m.py", "test_m.py", "--sandbox", "fortress"],
        4,
        "--sandbox or GREENLOOP_SANDBOX: no such sandbox: 'fortress'; choose one of auto, "
        "bubblewrap, native, landlock, container, none",
    ),
    "options of scripts for a module": Case(
        ["heal", "m.py", "--tests", "test_m.py", "--artifacts", "made"],
        2,
        "--artifacts is for scripts only; with --tests the tests define the result",
    ),
    "search without tests": Case(
        ["heal", "m.py", "--model", "none"],
        2,
        "--model none repairs by search, which needs tests: add --tests",
    ),
    "search without a model that found a repair": Case(
        ["heal", "wrong.py", "--tests", "test_wrong.py", "--yes", "--seconds", "60"],
        3,
        "no model is configured, but the search found a repair: add --model none to accept it",
    ),
}


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


def error_lines(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("greenloop: ")]


@pytest.mark.parametrize("name", CASES)
def test_an_error_is_one_line_with_cause_and_remedy(run: Run, name: str) -> None:
    case = CASES[name]
    if case.dotenv:
        Path(".env").write_text(case.dotenv)
    status, out, err = run(*case.arguments, **case.environment)
    assert error_lines(err) == [f"greenloop: {case.line}"], err
    assert status == case.status
    assert "verdict" not in out
    if status == 2:
        assert err.count("\n") == 1, err
        assert not list(Path(".greenloop/runs").glob("*")), "a usage error leaves no run directory"


WARNINGS = {
    "unknown name": (
        {"GREENLOOP_MODL": "x"},
        "",
        "warning: GREENLOOP_MODL is not a setting; did you mean GREENLOOP_MODEL?",
    ),
    "option's name": (
        {},
        "GREENLOOP_TIMEOUT=3\n",
        "warning: GREENLOOP_TIMEOUT is not a setting; did you mean EXECUTION_TIMEOUT_SECONDS?",
    ),
    "broken .env": (
        {},
        "A=1\nfoo bar baz\n=x\n",
        "warning: .env: lines 2, 3 are not NAME=VALUE and are ignored",
    ),
}


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
