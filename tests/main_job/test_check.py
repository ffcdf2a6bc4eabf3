"""`greenloop check`: what good, weak, red and forged code is told."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.change_responses import copy_shop
from tests.support.command_line import Run
from tests.support.git import commit_all
from tests.support.programs import read_program, read_programs

CODE = "def f(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n * n\n"
TESTS = read_program(__file__, "TESTS")


def write(code: str = CODE, tests: str = TESTS) -> None:
    Path("m.py").write_text(code)
    Path("test_m.py").write_text(tests)


def test_good_tests_are_verified_and_the_report_can_be_read_again(run: Run) -> None:
    write()
    status, out, err = run("check", "m.py", "test_m.py", "--require", "verified")
    assert status == 0, out + err
    assert out.startswith("verified: 2 of 2 tests pass")
    status, out, _ = run("report", "--json")
    report = json.loads(out)
    assert (status, report["verdict"], report["final_code"]) == (0, "verified", CODE)
    assert report["evidence"]["mutation"]["killed"] > 0


@pytest.mark.usefixtures("examples")
def test_weak_tests_are_told_which_faults_they_do_not_notice(run: Run) -> None:
    words = ("check", "examples/check/parcels.py", "examples/check/test_parcels.py")
    status, out, _ = run(*words)
    assert status == 1  # `check` asks for `verified` where nothing else is asked for
    assert out.startswith("passed: 6 of 6 tests pass")
    assert "SHORT  mutants" in out
    assert "no test with weight = 30" in out
    assert run(*words, "--require", "passed", "--mutants", "0", "--quiet")[0] == 0


def test_red_tests_are_shown_with_their_error(run: Run) -> None:
    write(code=CODE.replace("n * n", "n + n"))
    status, out, err = run("check", "m.py", "test_m.py")
    assert status == 1
    assert out.startswith("failed: 1 of 2 tests pass")
    assert "1 test does not pass: test_m.py::test_squares" in out
    assert "test_squares: AssertionError" in err


FORGED = read_programs(__file__, "FORGED")


@pytest.mark.parametrize("name", FORGED)
def test_forged_code_fails(run: Run, name: str) -> None:
    write(code=FORGED[name])
    status, out, _ = run("check", "m.py", "test_m.py", "--mutants", "0", "--quiet")
    assert status == 1, out
    assert out.startswith("failed: ")


def test_answers_of_the_tests_written_into_the_code_are_not_verified(run: Run) -> None:
    table = "def f(n):\n    if n == -1:\n        raise ValueError('negative')\n    return {0: 0, 2: 4, 7: 49, 12: 144}[n]\n"
    write(code=table)
    status, out, _ = run("check", "m.py", "test_m.py", "--require", "verified", "--quiet")
    assert status == 1
    assert not out.startswith("verified")


def test_tests_in_a_folder_bring_their_conftest_and_helpers(run: Run) -> None:
    Path("tests").mkdir()
    write()
    Path("tests/conftest.py").write_text("import pytest\n@pytest.fixture\ndef two(): return 2\n")
    Path("tests/helping.py").write_text("NINE = 9\n")
    Path("tests/test_a.py").write_text(
        "from helping import NINE\nfrom m import f\ndef test_a(two): assert f(two + 1) == NINE\n"
    )
    status, out, _ = run(
        "check", "m.py", "tests", "--json", "--require", "passed", "--mutants", "0"
    )
    assert (status, [item["id"] for item in json.loads(out)["tests"]]) == (0, ["test_a.py::test_a"])


def test_the_changed_lines_of_a_project_are_graded_and_no_file_is_written(run: Run) -> None:
    shop = copy_shop(Path.cwd())
    commit_all(shop)
    with open("shop/src/shop/prices.py", "a") as file:
        file.write("\n\ndef half(net: int) -> int:\n    return gross(net) // 2\n")
    with open("shop/tests/test_prices.py", "a") as file:
        file.write(
            "\n\ndef test_half():\n    from shop.prices import half\n\n    assert half(100) == 62\n"
        )
    words = ("check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet", "--require", "passed")
    status, out, err = run(*words)
    report = json.loads(out)
    assert (status, report["tests_passed"]) == (0, True), err
    assert report["verdict"] in ("passed", "verified")
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=shop, capture_output=True, text=True, check=True
    )
    assert len(changed.stdout.split("\n")) == 3, changed.stdout
