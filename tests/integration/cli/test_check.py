"""`greenloop check`: existing code, existing tests, no model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from greenloop.cli.main import app
from greenloop.records import Report
from tests.support.programs import read_program, read_table
from tests.support.wheels import only_wheels_of, wheel

Run = Callable[..., tuple[int, str, str]]
CODE = "def f(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n * n\n"
TESTS = read_program(__file__, "TESTS")


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app(["check", *arguments], prog_name="greenloop")
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text, "utf-8")


@pytest.mark.slow
def test_the_report_has_the_keys_of_make(run: Run) -> None:
    write(m=CODE, test_m=TESTS)
    status, out, err = run("m.py", "test_m.py", "--json", "--quiet", "--run-dir", "here")
    assert (status, err) == (1, "")  # not all its mutants are noticed
    content = json.loads(out)
    assert list(content) == list(Report.model_fields)
    assert (content["specification"], content["contract"], content["iterations"]) == ("", None, 0)
    assert (content["final_code"], content["test_code"]) == (CODE, TESTS)
    assert (content["command"], content["module"]) == ("check", "m")
    tried = [item["outcome"] for item in content["evidence"]["mutation"]["tried"]]
    assert tried.count("killed") == content["evidence"]["mutation"]["killed"] > 0
    assert content["evidence"]["coverage"]["statements"] == [1, 2, 3, 4]
    assert Path(content["artifacts"]["html"]).read_text("utf-8").startswith("<!doctype html>")
    assert (content["verdict"], content["tests_passed"]) == ("passed", True)
    assert content["evidence"]["assertion_mutation"]["controlled"] == 2
    assert content["evidence"]["thresholds"]["mutation_score"] == 0.8
    assert content["usage"]["calls"] == 0
    assert [(t["id"], t["origin"], t["requirements"]) for t in content["tests"]] == [
        ("test_m.py::test_two", "given", ["R1"]),
        ("test_m.py::test_negative", "given", []),
    ]
    assert json.loads(Path("here/report.json").read_text("utf-8")) == content


@pytest.mark.parametrize(("code", "test_import", "said"), read_table(__file__, "MODULES"))
def test_a_module_of_the_project_is_not_taken_for_a_package(
    run: Run, code: str, test_import: str, said: str
) -> None:
    Path("src/shop").mkdir(parents=True)
    Path("src/shop/__init__.py").write_text("")
    Path("src/shop/rates.py").write_text("RATE = 0.1\n")
    Path("src/shop/tax.py").write_text(f"{code}\n\ndef tax(x):\n    return x * RATE\n")
    test = f"from {test_import} import tax\n\ndef test_tax():\n    assert tax(10) == 1\n"
    write(test_tax=test)
    status, out, err = run("src/shop/tax.py", "test_tax.py")
    assert status == 1
    assert out.startswith("failed: no test has a result, ")
    assert f"{said}: a check takes one module alone; `greenloop check --diff REF` grades" in err


@pytest.mark.parametrize("place", ["test_tax.py", "tests"])
@pytest.mark.parametrize("module", ["tax", "__init__"])
def test_a_module_of_a_package_is_refused_in_one_line(run: Run, place: str, module: str) -> None:
    for folder in ("src/shop", "tests"):
        Path(folder).mkdir(parents=True)
    Path("src/shop/__init__.py").write_text("")
    Path("src/shop/tax.py").write_text("def tax(x):\n    return x * 0.1\n")
    test = "import shop\nfrom shop import tax\n\ndef test_tax():\n    assert tax.tax(10) == 1\n"
    write(test_tax=test)
    Path("tests/test_tax.py").write_text(test)
    status, _, err = run(f"src/shop/{module}.py", place)
    assert (status, err.count("\n")) == (2, 1)
    assert "package shop" in err
    assert "a check takes one module alone; `greenloop check --diff REF` grades" in err
    assert "--allow-package" not in err


def test_an_allowed_package_is_installed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_wheels_of(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel(tmp_path, "alpha", {"alpha.py": "def twice(n):\n    return 2 * n\n"})
    tests = "from m import f\nimport alpha\n\ndef test_a():\n    assert f(2) == alpha.twice(2)\n"
    write(m=CODE, test_m=tests)
    status, _, err = run("m.py", "test_m.py", "--mutants", "0")
    assert status == 1
    assert "add --allow-package alpha: the code or a test imports alpha" in err
    allowed = ("--mutants", "0", "--allow-package", "alpha", "--allow-package", "toolz")
    status, out, err = run("m.py", "test_m.py", *allowed)
    assert status == 1
    assert "packages alpha 1.0 (installed)" in err
    assert out.startswith("passed: 1 of 1 test passes")


def test_a_package_that_cannot_be_installed_matters_only_where_it_is_needed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_wheels_of(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    allowed = ("--mutants", "0", "--allow-package", "alpha", "--quiet")
    write(
        m=f"try:\n    import alpha\nexcept ImportError:\n    alpha = None\n\n\n{CODE}", test_m=TESTS
    )
    assert run("m.py", "test_m.py", *allowed, "--require", "passed")[0] == 0
    write(m=f"import alpha\n\n\n{CODE}")
    status, _, err = run("m.py", "test_m.py", *allowed)
    assert status == 4
    assert "alpha cannot be installed: there is no wheel of alpha" in err


BAD = read_table(__file__, "BAD")


@pytest.mark.parametrize(("arguments", "said"), BAD)
def test_bad_input_is_one_clear_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    write(m=CODE, test_m=TESTS, json=CODE, broken="\ndef f(:\n", no_tests="import m\n")
    write(test_own=f"{CODE}\n\ndef test_a():\n    'Squares of m.'\n    assert f(2) == 4\n")
    write(test_other="from other import g\ndef test_a(): assert g()\n", huge="#" * 1_000_001)
    write(idle="def test_a():\n    if not __name__:\n        import m\n    assert 1 + 1 == 2\n")
    Path("latin.py").write_bytes(b"#\xe9\n")
    Path("m.txt").write_text(CODE)
    Path("empty").mkdir()
    status, _, err = run(*arguments, "--quiet")
    assert status == 2
    assert said in err.strip().split("\n")[-1]


@pytest.mark.parametrize("files", read_table(__file__, "INDIRECT"))
def test_tests_may_import_the_module_indirectly(run: Run, files: dict[str, str]) -> None:
    takes = "f" if "conftest" in files else ""
    tests = f"{files.get('test_m', '')}\n\ndef test_a({takes}): assert f(2) == 4\n"
    write(**{"m": CODE, **files, "test_m": tests})
    status, out, err = run("m.py", "test_m.py", "--mutants", "0", "--quiet")
    assert (status, err) == (1, "")
    assert out.startswith("passed: 1 of 1 test passes")


def test_a_module_runs_in_the_encoding_that_it_declares(run: Run) -> None:
    write(test_m=r"import m\n\ndef test_a(): assert m.f() == '\xe9'".replace(r"\n", "\n"))
    Path("m.py").write_bytes(b"# coding: latin-1\n\ndef f(): return '\xe9'\n")
    status, out, err = run("m.py", "test_m.py", "--mutants", "0", "--quiet")
    assert (status, err) == (1, "")
    assert out.startswith("passed: 1 of 1 test passes")


@pytest.mark.slow
def test_a_check_cannot_be_resumed_but_reported(
    run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    write(m=CODE, test_m=TESTS)
    run("m.py", "test_m.py", "--run-dir", "here", "--quiet")
    for command, status, said in (("resume", 2, "run the check again"), ("report", 0, "2 of 2")):
        with pytest.raises(SystemExit) as ended:
            app([command, "here"], prog_name="greenloop")
        assert ended.value.code == status
        assert said in "".join(capfd.readouterr())


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "greenloop", "check", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_warnings_of_the_compiler_about_the_code_are_not_shown() -> None:
    write(m="def f(n):\n    return 1if n is 2 else n\n", test_m=TESTS)
    with start("m.py", "test_m.py", "--mutants", "0") as process:
        assert "SyntaxWarning" not in process.communicate()[1]


@pytest.mark.slow
def test_an_interrupt_ends_it_in_order() -> None:
    write(m=CODE, test_m=TESTS + "\n\ndef test_long():\n    import time\n    time.sleep(600)\n")
    with start("m.py", "test_m.py", "--timeout", "300", "--run-dir", "here") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run "):  # the sandbox is open
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not out
    assert json.loads(Path("here/report.json").read_text("utf-8"))["verdict"] == "failed"


@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_error() -> None:
    write(m=CODE, test_m=TESTS)
    with start("m.py", "test_m.py") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err


def test_skipped_tests_are_named_as_the_reason(run: Run) -> None:
    write(
        m=CODE,
        test_m="import pytest\npytestmark = pytest.mark.skip\nimport m\ndef test_f(): m.f(1)\n",
    )
    status, out, _ = run("m.py", "test_m.py", "--quiet")
    assert (status, "1. no test ran: 1 skipped → use an environment" in out) == (1, True)
