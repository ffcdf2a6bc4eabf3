"""Tests that the code removed are found; those that pytest may leave out are not."""

import pytest

from greenloop.grading.unreported_tests import find_unreported_tests
from greenloop.records import TestOutcome, TestRun
from greenloop.testsuite import TestFile

RUN = TestRun(ending="finished", tests=(TestOutcome(id="test_m.py::test_a", outcome="passed"),))


def missing(code: str) -> tuple[str, ...]:
    return find_unreported_tests([TestFile("test_m.py", code)], RUN)


@pytest.mark.parametrize(
    "head", ["", "@pytest.mark.slow\n", "@pytest.mark.parametrize('x', [1])\n"]
)
def test_a_plain_test_that_was_not_reported_is_found(head: str) -> None:
    code = f"def test_a(): pass\n{head}def test_b(x=1): pass\n"
    assert missing(code) == ("test_m.py::test_b",)


@pytest.mark.parametrize(
    "code",
    [
        "def test_a(): pass\n",
        "@pytest.fixture\ndef test_b(): pass\n",
        "if x:\n    def test_b(): pass\n",
        "class TestX:\n    def __init__(self): pass\n    def test_b(self): pass\n",
        "def test_b(): pass\ntest_b = None\n",
        "def test_b(): pass\ndel test_b\n",
        "def test_b(): pass\ntest_b.__test__ = False\n",
        "def test_b(): pass\ndef pytest_collection_modifyitems(items): items.clear()\n",
        "pytest.importorskip('x')\ndef test_b(): pass\n",
        "def test_b(",
    ],
)
def test_tests_that_pytest_may_leave_out_are_not_found(code: str) -> None:
    assert missing(code) == ()


def test_options_of_a_project_may_leave_out_marked_tests() -> None:
    code = "def test_a(): pass\n@pytest.mark.slow\ndef test_b(): pass\ndef test_c(): pass\n"
    found = find_unreported_tests([TestFile("test_m.py", code)], RUN, ".mark.parametrize")
    assert found == ("test_m.py::test_c",)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x): pass\n",
            ("a row of test_m.py::test_a",),
        ),
        ("@pytest.mark.parametrize('x', [1])\ndef test_a(x): pass\n", ()),
        ("@pytest.mark.parametrize('x', [])\ndef test_a(x): pass\n", ()),
        ("@pytest.mark.parametrize('x', ROWS)\ndef test_a(x): pass\n", ()),
        ("@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x, made): pass\n", ()),
    ],
)
def test_a_row_that_was_not_reported_is_found(head: str, expected: tuple[str, ...]) -> None:
    assert missing(head) == expected
