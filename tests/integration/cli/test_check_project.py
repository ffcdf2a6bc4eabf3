"""`greenloop check` of a whole project, of its first commit, in other formats, and from Python."""

import json
import subprocess
from pathlib import Path

import pytest

from greenloop import check, check_changes
from greenloop.errors import InputError
from tests.integration.cli.conftest import Run

CODE = "def add(a, b):\n    if a < 0:\n        return 0\n    return a + b\n"
TESTS = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
ALL_TESTS = TESTS + "    assert add(-1, 2) == 0\n    assert add(0, 2) == 2\n"
FAST = ("--mutants", "0", "--quiet")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("calc.py").write_text(CODE)
    Path("test_calc.py").write_text(TESTS)
    return tmp_path


def git(*words: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *author, *words], check=True, capture_output=True)


def test_the_first_commit_is_compared_with_nothing_and_names_what_to_do(
    run: Run, project: Path
) -> None:
    git("init", "-q", "-b", "main")
    status, out, _ = run("check", "--diff", "HEAD", "--quiet")
    first, *steps = out.splitlines()[:4]
    assert (status, first.partition("; ")[2].split(", ")[0]) == (1, "short of verified: mutants")
    assert [line[:4] for line in steps] == ["  1.", "  2.", "  3."]
    assert "calc.py:2" in steps[0]


def test_without_files_changes_to_the_default_branch_are_graded(run: Run, project: Path) -> None:
    assert "the changed lines of a git repository" in run("check")[2]
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    git("switch", "-q", "-c", "work")
    Path("calc.py").write_text(f"{CODE}\n\ndef sub(a, b):\n    return a - b\n")
    git("commit", "-q", "-a", "-m", "y")
    status, out, _ = run("check", *FAST)
    assert (status, "never reached: calc.py:8" in out) == (1, True)
    report = check_changes(project, mutants=0)
    assert report.evidence.coverage is not None
    assert report.evidence.coverage.missed_places == ("calc.py:8",)


@pytest.mark.parametrize(
    ("name", "begins"),
    [("github", "::warning file="), ("junit", "<?xml"), ("sarif", "{"), ("markdown", "## ")],
)
def test_a_result_is_printed_in_another_form(
    run: Run, project: Path, name: str, begins: str
) -> None:
    words = ("check", "calc.py", "test_calc.py", "--quiet", "--mutants", "4")
    status, out, _ = run(*words, "--output-format", name)
    assert (status, out[: len(begins)]) == (1, begins)


def test_grades_of_all_modules_are_printed_in_each_form(run: Run, project: Path) -> None:
    (project / "alone.py").write_text("def half(x):\n    return x / 2\n")
    shown = {
        name: run("check", "--all", "--quiet", "--mutants", "4", "--output-format", name)
        for name in ("text", "json", "markdown", "junit", "sarif", "github")
    }
    assert {status for status, _, _ in shown.values()} == {1}
    outputs = {name: out for name, (_, out, _) in shown.items()}
    assert json.loads(outputs["json"])[0]["verdict"] == "no tests"
    assert "| no tests |  | `alone.py` |" in outputs["markdown"]
    assert 'failures="2"' in outputs["junit"]
    assert (
        "calc.py"
        in json.loads(outputs["sarif"])["runs"][0]["results"][0]["locations"][0][
            "physicalLocation"
        ]["artifactLocation"]["uri"]
    )
    assert "::error file=alone.py::no tests: write tests" in outputs["github"]
    assert len(list(project.glob(".greenloop/runs/*"))) == 1


def test_texts_and_files_are_checked_from_python(project: Path) -> None:
    assert check(CODE, ALL_TESTS).verdict == "verified"
    assert check(Path("calc.py"), "test_calc.py", mutants=0).verdict == "passed"
    with pytest.raises(InputError, match="import no module under test"):
        check(CODE, "def test_a(): pass\n")


def test_tests_of_a_package_are_observed_with_relative_imports_and_fixtures(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tests = "from ..calc import add\n\n\ndef test_add(two):\n    assert add(1, two) == 3\n"
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n",
        "shop/__init__.py": "",
        "shop/calc.py": CODE,
        "shop/tests/__init__.py": "",
        "shop/tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef two():\n    return 2\n",
        "shop/tests/test_calc.py": tests,
    }
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    out = run("check", "shop/calc.py", "shop/tests/test_calc.py", *FAST)[1]
    assert "1 of 1 tests give" in out or "1 of 1 test gives" in out


@pytest.mark.parametrize(
    ("line", "verdict"), [("with helpers.Locale(): pass", "passed"), ("absent()", "failed")]
)
def test_a_skip_counts_where_files_of_the_tests_call_for_it(
    project: Path, line: str, verdict: str
) -> None:
    skip = "raise unittest.SkipTest('no')"
    Path("pytest.ini").write_text("[pytest]\naddopts = -q\n")
    Path("calc.py").write_text(f"import unittest\n{CODE}\n\ndef absent():\n    {skip}\n")
    Path("helpers.py").write_text(
        "import unittest\nfrom calc import add\n\n\nclass Locale:\n    def __enter__(self):\n"
        f"        add(1, 1)\n        {skip}\n\n    def __exit__(self, *_): pass\n"
    )
    names = f"import helpers\nfrom calc import absent\n{ALL_TESTS}"
    Path("test_calc.py").write_text(f"{names}\n\ndef test_other():\n    {line}\n")
    assert check(Path("calc.py"), "test_calc.py", mutants=0).verdict == verdict
