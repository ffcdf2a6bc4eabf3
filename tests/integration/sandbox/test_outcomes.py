"""Every kind of outcome of pytest, as a run reports it. One run for all."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from greenloop.records import Failure, TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program, read_table

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
OUTCOMES = read_table(__file__, "OUTCOMES")
RAISED = {
    "plain": ("ValueError", "ünï ☃"),
    "refuses": ("Refuses", "<its text raises: RuntimeError>"),
    "surrogate": ("ValueError", "\\ud800 lone"),
    "deep": ("RecursionError", "maximum recursion depth exceeded"),
    "exit": ("SystemExit", "0"),
    "memory": ("MemoryError", ""),
}


@pytest.fixture(scope="module")
def run(box: Sandbox) -> TestRun:
    """Run the tests; the module is found from their imports."""
    return box.run_tests(CODE, TESTS)


def failure_of(run: TestRun, name: str) -> Failure:
    (found,) = [item for item in run.failures if item.test.endswith(f"::{name}")]
    return found


def test_run_finishes_and_does_not_pass(run: TestRun) -> None:
    assert (run.ending, run.exit_status, run.passed) == ("finished", 1, False)
    assert (run.missing, run.unexpected) == ((), ())
    assert "1 passed" not in run.output
    assert " passed" in run.output


def test_every_outcome_is_reported(run: TestRun) -> None:
    outcomes = {item.id: item.outcome for item in run.tests}
    assert outcomes == {f"test_solution.py::{name}": kind for name, kind in OUTCOMES.items()}


def test_the_file_that_skips_a_test_is_reported(run: TestRun) -> None:
    places = {item.id.rpartition("::")[2]: item.skipped_by for item in run.tests}
    named = {name: place for name, place in places.items() if place}
    assert named == {"test_skips_itself": "test_solution.py"}


@pytest.mark.parametrize("kind", RAISED)
def test_exception_is_reported_with_its_message(run: TestRun, kind: str) -> None:
    failure = failure_of(run, f"test_raises[{kind}]")
    name, message = RAISED[kind]
    assert (failure.phase, failure.exception) == ("call", name)
    assert failure.message.startswith(message)


def test_frames_are_in_the_runs_own_files(run: TestRun) -> None:
    frames = failure_of(run, "test_raises[plain]").frames
    assert [(item.file, item.function) for item in frames] == [
        ("test_solution.py", "test_raises"),
        ("solution.py", "fail"),
    ]
    assert frames[-1].text == 'raise ValueError("ünï ☃")'
    assert frames[-1].line == CODE.split("\n").index('    raise ValueError("ünï ☃")') + 1
    every = {frame.file for item in run.failures for frame in item.frames}
    assert every == {"test_solution.py", "solution.py"}


def test_frames_of_a_deep_recursion_are_cut(run: TestRun) -> None:
    assert len(failure_of(run, "test_raises[deep]").frames) == 15


def test_output_of_a_failing_test_is_kept(run: TestRun) -> None:
    assert failure_of(run, "test_raises[plain]").output == "before the fall\n"


@pytest.mark.parametrize(
    ("name", "phase", "message"),
    [
        ("test_setup", "setup", "setup"),
        ("test_teardown", "teardown", "teardown"),
        ("test_fixture_missing", "setup", "fixture 'no_such_fixture' not found"),
        ("test_cases[3]", "call", "assert 6 == (3 + 3)"),
    ],
)
def test_phase_is_reported(run: TestRun, name: str, phase: str, message: str) -> None:
    failure = failure_of(run, name)
    assert failure.phase == phase
    assert message in failure.message.replace("((", "(")


def test_durations_are_measured(run: TestRun) -> None:
    assert 0 < sum(item.duration_s for item in run.tests) < run.duration_s


def test_files_may_have_names_of_guest_modules(box: Sandbox) -> None:
    """`start`, `run_pytest` and `limits` are free names, and a conftest of the run is used."""
    files = [
        TestFile("test_one.py", "from start import f\ndef test_a(five): assert f() == five"),
        TestFile("test_two.py", "import start\ndef test_a(): assert start.g() == 'limits'"),
        TestFile("conftest.py", "import pytest\n@pytest.fixture\ndef five(): return 5"),
    ]
    run = box.run_tests(
        "import sys\n"
        "def f(): return 5\n"
        "def g():\n"
        "    assert not {'pytest_run', 'limits', '_guest', 'guest'} & set(sys.modules)\n"
        "    assert not [item for item in sys.path if 'guest' in item]\n"
        "    return 'limits'\n",
        files,
        module="start",
    )
    assert run.passed, str(run)
    assert {item.id for item in run.tests} == {"test_one.py::test_a", "test_two.py::test_a"}


def test_order_seed_shuffles_reproducibly(box: Sandbox) -> None:
    tests = "from solution import x\n" + "".join(f"def test_{n}(): pass\n" for n in range(8))
    with ThreadPoolExecutor(3) as pool:
        runs = pool.map(lambda s: box.run_tests("x = 1", tests, order_seed=s), (None, 1, 1))
        orders = [[item.id for item in run.tests] for run in runs]
    assert orders[0] == sorted(orders[0])
    assert orders[1] != orders[0]
    assert orders[1] == orders[2]


def test_many_failures_have_details_and_a_text_each(box: Sandbox) -> None:
    tests = "import pytest\n\n\n@pytest.mark.parametrize('n', range(30))\ndef test_a(n):\n    assert n < 0\n"
    run = box.run_tests("", [TestFile("test_solution.py", tests)], module="solution")
    assert [item.message for item in run.failures] == [f"assert {n} < 0" for n in range(30)]
    assert run.output.count("test_solution.py:6: in test_a\n    assert n < 0\nE   assert ") == 30


def test_the_text_of_a_failure_names_the_exception_before_it(box: Sandbox) -> None:
    code = "def get(n):\n    try:\n        return {}[n]\n    except KeyError:\n        raise ValueError(n)\n"
    tests = "from solution import get\ndef test_a():\n    get(3)\n"
    output = box.run_tests(code, tests, module="solution").output
    frames = "test_solution.py:3: in test_a\n    get(3)\nsolution.py:5: in get\n    raise ValueError(n)\n"
    first, second = output.split("\nwhich led to\n")
    assert "solution.py:3: in get\n    return {}[n]\nE   KeyError: 3\n" in first
    assert f"{frames}E   ValueError: 3\n" in second
