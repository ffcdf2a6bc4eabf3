"""Mutants where a process that has collected the tests cannot be forked."""

import sys
from collections.abc import Iterator

import pytest

from greenloop.grading.mutation import measure_mutation
from greenloop.sandbox import Sandbox
from greenloop.sandbox.guest.isolation import landlock
from tests.integration.sandbox.conftest import list_tested_kinds, make_sandbox
from tests.support.programs import read_program

CODE = "def limit(n):\n    if n > 9:\n        return 9\n    return n\n"
TESTS = "from m import limit\n\n\ndef test_limit():\n    assert limit(12) == 9\n    assert limit(3) == 3\n"
THREADED = read_program(__file__, "THREADED")
THREADED_TESTS = "from m import double\n\n\ndef test_double():\n    assert double(3) == 6\n"


@pytest.fixture(
    params=["landlock", *(kind for kind in list_tested_kinds() if kind not in ("none", "landlock"))]
)
def isolated(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "landlock" and (sys.platform != "linux" or not landlock.version()):
        pytest.skip("this kernel has no Landlock")
    with make_sandbox(request.param) as opened:
        yield opened


def test_mutants_are_tried_on_each_backend(isolated: Sandbox) -> None:
    found = measure_mutation(isolated, CODE, TESTS, module="m", budget_s=100)
    assert found.trouble == ""
    assert {item.operator for item in found.survived} == {"boundary", "number"}  # n > 10
    assert found.killed >= 5


@pytest.mark.slow
def test_a_thread_of_the_module_runs_beside_each_mutant(isolated: Sandbox) -> None:
    found = measure_mutation(isolated, THREADED, THREADED_TESTS, module="m", budget_s=100)
    assert found.trouble == ""
    assert [item.line for item in found.survived if item.function != "double"] == []
    assert "test_m.py::test_double" in {item.test for item in found.tried}


def test_tests_that_pass_in_no_fork_have_test_runs_of_their_own() -> None:
    tests = TESTS.replace("def test", "PROCESS = os.getpid()\n\n\ndef test")
    tests = f"import os\n{tests}    assert os.getpid() == PROCESS\n"
    with make_sandbox("native") as box:
        found = measure_mutation(box, CODE, tests, module="m", budget_s=100)
    assert found.trouble == ""
    assert found.killed >= 5


def test_run_that_stops_early_ends_with_the_first_failure() -> None:
    tests = "def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\n"
    with make_sandbox("native") as box:
        run = box.run_tests("", tests, module="m", stops_early=True)
    assert run.ending == "finished"
    assert run.outcomes == {"test_m.py::test_a": "passed", "test_m.py::test_b": "failed"}
