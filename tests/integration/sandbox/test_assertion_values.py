"""Values of a failed assertion."""

from __future__ import annotations

import pytest

from greenloop.records import Assertion, TestRun
from greenloop.sandbox import Sandbox
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
# Body of a test, and of its failed assertion: operator, left, right.
CASES: dict[str, tuple[str, tuple[str, str, str] | None]] = {
    "equal": ("assert double(2) == 5", ("==", "4", "5")),
    "less": ("assert double(2) < 3", ("<", "4", "3")),
    "in": ("assert 1 in [2]", ("in", "1", "[2]")),
    "is": ("assert double(1) is None", ("is", "2", "None")),
    "not in": ("assert 'a' not in 'abc'", ("not in", "'a'", "'abc'")),
    "message": ("assert double(2) == 5, 'said'", ("==", "4", "5")),
    "lines": ("assert [\n        double(2)\n    ] == [\n        5\n    ]", ("==", "[4]", "[5]")),
    "the second of two": ("assert 1 == 1 and double(2) == 5", ("==", "4", "5")),
    "none": ("assert not double(1)", None),
    "a bare raise": ("silent(2)\n    raise AssertionError('own')", None),
    "one that was swallowed": (
        "with pytest.raises(AssertionError):\n        assert 1 == 2\n    raise AssertionError('own')",
        None,
    ),
    "another error": ("assert {}['a'] == 1", None),
    "without text": ("assert Hostile() == 1", ("==", "<Hostile instance at 0x", "1")),
    "of a wrong kind": ("assert NoText() == 1", ("==", "<", "1")),
    "lying": ("assert Liar([2]) == [3]", ("==", "[1][1]", "[3]")),
    "long": ("assert 'x' * 10_000 == 'y'", ("==", "'xxx", "'y'")),
    "deep": ("assert [[[[[[[1]]]]]]] == 1", ("==", "[[[[[...]]]]]", "1")),
    "surrogates": ("assert '\\ud800' == 'a'", ("==", "'\\ud800'", "'a'")),
}
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
