"""Mutants run in a sandbox: known survivors, ways of importing, agreement with separate runs."""

import socket
from dataclasses import replace

import pytest

from greenloop.grading.mutation import generate_mutants, measure_mutation
from greenloop.records import Mutation
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
SURVIVORS = {
    "LIMIT = 4",
    "LIMIT = 2",
    'BLUE = "XXbXX"',
    "def top_k(xs, k=3):",
    "def top_k(xs, k=1):",
    "if k <= 0:",
    "if k < 1:",
    "def __init__(self, size=None):",
    "return None",
    "return a - 1",
    "return a + 2",
    "return a + 0",
}


def try_mutants(box: Sandbox, code: str, tests: str, **options: object) -> Mutation:
    return measure_mutation(box, code, tests, module="solution", **options)  # type: ignore[arg-type]


def after(found: Mutation) -> set[str]:
    return {item.changed_lines.split("\n")[-1][1:].strip() for item in found.survived}


def assert_all_noticed(found: Mutation) -> None:
    assert (found.trouble, after(found)) == ("", set())
    assert found.killed == found.sampled > 0


@pytest.fixture(scope="module")
def found(box: Sandbox) -> Mutation:
    return try_mutants(box, CODE, TESTS, budget_s=200)


def test_survivors_are_the_gaps_of_the_tests(found: Mutation) -> None:
    assert found.trouble == ""
    assert after(found) == SURVIVORS
    assert found.score == round(found.killed / (found.killed + len(found.survived)), 4)
    assert (found.timeout, found.crashed, found.errors, found.not_run) == (0, 0, 0, 0)
    assert found.generated == found.sampled + found.equivalent_suspects


def test_unreached_survivors_are_marked(found: Mutation) -> None:
    assert {item.function for item in found.survived if not item.reached} == {"never"}


def test_result_is_deterministic(box: Sandbox, found: Mutation) -> None:
    again = try_mutants(box, CODE, TESTS, budget_s=200)
    assert again.model_copy(update={"seconds": 0}) == found.model_copy(update={"seconds": 0})


@pytest.mark.slow
def test_outcomes_equal_those_of_separate_runs(box: Sandbox) -> None:
    """The oracle is an ordinary run of all tests on the changed module."""
    every = [item for item in generate_mutants(CODE) if not item.equivalence_reason][::4]
    splices = [item.edit for item in every]
    without_skip = TESTS.replace("@pytest.mark.skip", "#").replace("assert False", "pass")
    tests = [TestFile("test_solution.py", without_skip)]
    fast = box.run_mutants(CODE, tests, splices, module="solution", budget_s=200)
    for item, run in zip(every, fast.runs, strict=True):
        fresh = box.run_tests(item.edit.apply_to(CODE), tests, module="solution")
        assert (run.outcome in ("survived", "uncovered")) == fresh.passed, (item.id, run)
        assert run.outcome != "killed" or run.test in {*fresh.failing_tests, "collection"}


LEAKY = read_program(__file__, "LEAKY")
LEAKY_TESTS = read_program(__file__, "LEAKY_TESTS")


def test_state_of_a_mutant_does_not_affect_the_next(box: Sandbox) -> None:
    """`return None` in `put` leaves an item in the list, which would change `size`."""
    tests = [TestFile("test_solution.py", LEAKY_TESTS)]
    found = [*generate_mutants(LEAKY)]
    put = next(m for m in found if m.operator == "result" and m.function == "put")
    same = replace(put.edit, text="item * 1")  # changes nothing
    size = next(m for m in found if m.operator == "result" and m.function == "size")
    alike = replace(size.edit, text="more + len(LEFT)")
    leaking = put.edit
    ran = box.run_mutants(
        LEAKY, tests, [leaking, same, alike, leaking], module="solution", budget_s=60
    )
    assert [run.outcome for run in ran.runs] == ["killed", "survived", "survived", "killed"]


AT_IMPORT = read_program(__file__, "AT_IMPORT")


def test_code_called_at_import_is_imported_again(box: Sandbox) -> None:
    tests = "from solution import TABLE\n\ndef test_table():\n    assert TABLE == [0, 2, 4]\n"
    found = try_mutants(box, AT_IMPORT, tests)
    assert {item.function for item in found.survived} == {"_never"}
    assert found.killed >= 4


ENDLESS = read_program(__file__, "ENDLESS")


def test_code_that_counts_its_imports_finds_no_trace_of_others(box: Sandbox) -> None:
    """The first forks would show that the original passes, and all later ones that mutants fail."""
    counting = (
        "import os, pathlib\n"
        "if 'TABLE' not in globals():\n"
        "    for number in range(3):\n"
        "        try:\n"
        "            os.mkdir(pathlib.Path.home() / f'{os.getppid()}-{number}')\n"
        "            break\n"
        "        except FileExistsError:\n"
        "            if number == 1: raise ImportError\n"
    )
    code = "TABLE = [0, 2, 4, 6, 8, 10, 12, 14]\nMORE = 3 * 4\n"
    tests = "from solution import TABLE\n\ndef test_table():\n    assert TABLE[1] == 2\n"
    assert len(try_mutants(box, code, tests).survived) >= 10
    assert len(try_mutants(box, counting + code, tests).survived) >= 10


def test_endless_mutants_are_late_and_long_ones_are_not(box: Sandbox) -> None:
    """Twice as many iterations as the original makes are allowed, whatever their number."""
    tests = "from solution import reach\n\ndef test_reach():\n    assert reach(40_000) is True\n"
    found = try_mutants(box, ENDLESS, tests)
    late = {item.after for item in found.tried if item.outcome == "timeout"}
    assert {"-="} <= late, found.tried
    survived = {item.after for item in found.tried if item.outcome == "survived"}
    assert {"3", "1"} <= survived, found.tried


def test_sample_is_counted(box: Sandbox) -> None:
    few = try_mutants(box, CODE, TESTS, max_mutants=6, seed=1, budget_s=200)
    assert (few.sampled, few.trouble) == (6, "")
    assert few.killed + len(few.survived) == 6


def test_dependent_tests_run_together(box: Sandbox) -> None:
    code = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    tests = (
        "from solution import one, two\nSEEN = []\n"
        "def test_first():\n    SEEN.append(one())\n"
        "def test_second():\n    assert SEEN and two() == 2\n"
    )
    found = try_mutants(box, code, tests, budget_s=100)
    assert found.trouble == ""
    assert {item.function for item in found.survived} == {"one"}


def test_several_files_and_a_conftest(box: Sandbox) -> None:
    files = [
        TestFile("conftest.py", "import pytest\n\n@pytest.fixture\ndef two():\n    return 2\n"),
        TestFile("test_a.py", "import solution\ndef test_a(two): assert solution.half(4) == two\n"),
        TestFile("test_b.py", "from solution import half\ndef test_b(): assert half(2) == 1\n"),
    ]
    targets = [files[1], files[2], files[0]]
    code = "def half(n):\n    return n // 2\n"
    found = measure_mutation(box, code, targets, module="solution", budget_s=100)
    assert found.trouble == ""
    assert after(found) == {"return n / 2"}


@pytest.mark.parametrize(
    ("code", "tests", "why"),
    [
        ("def f(:\n", "import solution\n", "cannot be parsed"),
        ("pass\n", "def test(): pass\n", "nothing that a mutant could change"),
        ("a = 1\n", "import solution, nowhere\n", "cannot be collected"),
        ("a = 1\n", "import solution\nassert solution.a == 2\n", "cannot be collected"),
        ("a = 1\n", "import sys\nsys.exit()\n", ""),
    ],
)
def test_no_score_without_measurement(box: Sandbox, code: str, tests: str, why: str) -> None:
    found = try_mutants(box, code, tests, budget_s=100)
    assert found.score is None
    assert why in found.trouble
    assert found.trouble


@pytest.mark.slow
def test_no_score_after_timeout(box: Sandbox) -> None:
    tests = "import time, solution\ndef test(): time.sleep(1); assert solution.f(1) == 2\n"
    code = (
        "def f(a):\n"
        + "".join(f"    a = a + {n} - {n}\n" for n in range(30))
        + "    return a + 1\n"
    )
    found = try_mutants(box, code, tests, budget_s=0.6)
    assert found.score is None
    assert found.not_run > 0
    assert found.not_run + found.killed + len(found.survived) == found.sampled
    assert found.trouble.endswith("out of time")


def test_failing_tests_kill_no_mutants(box: Sandbox) -> None:
    tests = (
        "from solution import f\ndef test_wrong(): assert f(1) == 5\n"
        "def test_weak(): assert f(1)\n"
    )
    found = try_mutants(box, "def f(a):\n    return a + 1\n", tests, budget_s=100)
    assert "return a + 2" in after(found)


ON_ONE_PORT = read_program(__file__, "ON_ONE_PORT")


IN_A_SUBPROCESS = read_program(__file__, "IN_A_SUBPROCESS")


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_tests_of_one_port_do_not_fail_by_each_other(box: Sandbox) -> None:
    port = find_free_port()
    tests = "".join(
        f"\n\ndef test_{number}():\n    assert solution.listen({port}) == {port}\n"
        for number in range(2)
    )
    found = try_mutants(box, ON_ONE_PORT, f"import solution\n{tests}", budget_s=100)
    assert (found.trouble, found.errors, found.not_run) == ("", 0, 0)
    assert {"def listen(port, backlog=6):", "time.sleep(1.05)"} <= after(found)


def test_tests_whose_subprocesses_use_one_port_do_not_fail_by_each_other(box: Sandbox) -> None:
    tests = (
        f"import solution\n\n\ndef test_a():\n    assert solution.listen({find_free_port()}) == 0\n"
    )
    found = try_mutants(box, IN_A_SUBPROCESS, tests, budget_s=100)
    assert (found.trouble, found.errors, found.not_run) == ("", 0, 0)
    changed = {"a=4, b=5, c=7", "a=3, b=6, c=7", "a=3, b=5, c=8"}
    assert {f"def listen(port, {defaults}):" for defaults in changed} <= after(found)


def test_a_test_in_a_subprocess_notices_mutants(box: Sandbox) -> None:
    """The process with the tests never loads the module, so there is nothing to swap."""
    code = "import sys\n\n\ndef double(n):\n    return n * 2\n\n\nprint(double(int(sys.argv[1])))\n"
    tests = (
        "import subprocess, sys\n\n\ndef test_four():\n"
        "    out = subprocess.run([sys.executable, 'solution.py', '4'], capture_output=True)\n"
        "    assert out.stdout == b'8\\n'\n"
    )
    found = try_mutants(box, code, tests, budget_s=100)
    assert found.trouble == ""
    assert "return n / 2" not in after(found)
    assert found.killed >= 4


def test_a_module_that_no_test_loads_has_no_score(box: Sandbox) -> None:
    found = try_mutants(box, "def f(n):\n    return n + 1\n", "def test():\n    assert True\n")
    assert found.score is None
    assert "no test loads solution.py" in found.trouble


def test_a_module_loaded_within_a_test_is_imported_again(box: Sandbox) -> None:
    code = "def f(n):\n    return n + 1\n"
    tests = "def test():\n    import solution\n\n    assert solution.f(1) == 2\n"
    found = try_mutants(box, code, tests, budget_s=100)
    assert_all_noticed(found)


def test_code_that_a_conftest_calls_is_imported_again(box: Sandbox) -> None:
    """The call was before the tests were collected: other code of the function comes too late."""
    files = [
        TestFile("conftest.py", "import solution\n\nTABLE = {}\nsolution.fill(TABLE)\n"),
        TestFile("test_a.py", "from conftest import TABLE\n\ndef test(): assert TABLE == {1: 2}\n"),
    ]
    code = "def fill(table):\n    table[1] = 2\n"
    found = measure_mutation(box, code, [files[1], files[0]], module="solution", budget_s=100)
    assert_all_noticed(found)


def test_a_test_that_skips_a_subtest_notices_mutants(box: Sandbox) -> None:
    tests = (
        "import unittest\nfrom solution import f\n\n\nclass T(unittest.TestCase):\n"
        "    def test(self):\n        self.assertEqual(f(1), 2)\n"
        "        with self.subTest('a'):\n            self.skipTest('not here')\n"
    )
    found = try_mutants(box, "def f(n):\n    return n + 1\n", tests, budget_s=100)
    assert_all_noticed(found)


def test_what_a_trial_writes_is_taken_back(box: Sandbox) -> None:
    code = (
        "from pathlib import Path\n\n\ndef note(text):\n"
        "    Path('notes').mkdir()\n    Path('test_solution.py').write_text(text + '')\n"
        "    return len(text)\n"
    )
    tests = "import solution\n\n\ndef test():\n    assert solution.note('abc') == 3\n"
    found = try_mutants(box, code, tests, budget_s=100)
    assert found.trouble == ""
    assert {"    Path('test_solution.py').write_text(text + 'XX')".strip()} <= after(
        found
    ) or after(found)


def test_tests_may_use_a_loop_and_a_file_that_the_module_opens_at_import(box: Sandbox) -> None:
    code, tests = (read_program(__file__, f"OPENED_AT_IMPORT{end}") for end in ("", "_TESTS"))
    assert_all_noticed(try_mutants(box, code, tests, budget_s=100))
