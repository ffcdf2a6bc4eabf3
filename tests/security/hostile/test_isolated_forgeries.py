"""Programs that forge their verdict where they share a process with the tests; apart they do not."""

import pytest

from greenloop.grading import GradingContext
from greenloop.grading.observation.isolation import measure
from greenloop.records import Isolated
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.security.hostile.conftest import Limited
from tests.support.programs import read_program, read_programs

TESTS = read_program(__file__, "TESTS")
WRONG = "def add(a, b): return a - b - 1\n\n\ndef label(n): return None\n"

FORGERIES = read_programs(__file__, "FORGERIES")
# Every third one; `-m slow` runs the others.
NAMES = [
    pytest.param(name, marks=pytest.mark.slow if number % 3 else ())
    for number, name in enumerate(FORGERIES)
]


def measure_isolation(box: Sandbox, code: str) -> Isolated:
    files = [TestFile("test_solution.py", TESTS)]
    run = box.run_tests(code, files, module="solution")
    found = measure(GradingContext(box, code, files, "solution", run))
    assert isinstance(found, Isolated)
    return found


def test_all_tests_of_a_right_module_agree(box: Sandbox) -> None:
    right = "def add(a, b): return a + b\ndef label(n): return ('even', 'odd')[n % 2] + '-zebra'"
    wanted = Isolated(reached=True, tests=3, observed=3, agreed=3, answers=3)
    assert measure_isolation(box, right) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_no_test_of_a_forgery_agrees(box: Sandbox, limited: Limited, name: str) -> None:
    with limited(timeout_s=5):
        found = measure_isolation(box, WRONG + FORGERIES[name])
    assert found.agreed == 0
    # What cannot be observed keeps nothing away: other evidence has to.
    assert not found.observed or not found.reached or found.explain_own_answers()
    assert len(found.differing) + len(found.not_observable) == found.tests == 3


def test_beside_the_tests_some_of_them_do_forge(box: Sandbox) -> None:
    """Else the tests above would say nothing."""
    forged = 0
    for name, program in FORGERIES.items():
        code = WRONG + program
        if "equal" in name or name.startswith("patches the"):
            forged += box.run_tests(code, TESTS, module="solution").passed
    assert forged >= 4
