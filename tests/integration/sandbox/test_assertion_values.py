"""Values of a failed assertion."""

import pytest

from greenloop.records import Assertion, TestRun
from greenloop.sandbox import Sandbox
from tests.support.programs import read_program, read_table

CODE = read_program(__file__, "CODE")
# Body of a test, and of its failed assertion: operator, left, right.
CASES: dict[str, tuple[str, tuple[str, str, str] | None]] = read_table(__file__, "CASES")
_FUNCTIONS = "\n\n\n".join(
    f"def test_{number}():\n    {body}" for number, (body, _) in enumerate(CASES.values())
)


@pytest.fixture(scope="module")
def run(box: Sandbox) -> TestRun:
    tests = f"import pytest\nfrom solution import *\n\n\n{_FUNCTIONS}\n"
    return box.run_tests(CODE, tests, module="solution", doctests=True)


def find_assertion(run: TestRun, test: str) -> Assertion | None:
    (failure,) = [item for item in run.failures if item.test == test]
    return failure.assertion


@pytest.mark.parametrize(("number", "name"), list(enumerate(CASES)))
def test_comparison_is_reported_with_its_values(run: TestRun, number: int, name: str) -> None:
    _, values = CASES[name]
    assertion = find_assertion(run, f"test_solution.py::test_{number}")
    if values is None:
        assert assertion is None
        return
    assert assertion is not None
    assert assertion.operator == values[0]
    assert assertion.left.startswith(values[1])
    assert assertion.right.startswith(values[2])
    assert max(len(assertion.left), len(assertion.right)) <= 300


def test_doctest_is_reported_with_got_and_expected(run: TestRun) -> None:
    name = "solution.py::solution.double"
    assert find_assertion(run, name) == Assertion(operator="==", left="4", right="5")
    (failure,) = [item for item in run.failures if item.test == name]
    assert failure.exception == "DocTestFailure"
    assert failure.message == ">>> double(2)\nExpected:\n    5\nGot:\n    4"
    (frame,) = failure.frames
    line = CODE.split("\n").index("    >>> double(2)") + 1
    assert (frame.file, frame.line, frame.text) == ("solution.py", line, "double(2)")
