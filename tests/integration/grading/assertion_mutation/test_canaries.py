"""Canaries fail in an honest run, and pass where a function that they call was changed."""

import pytest

from greenloop.grading.assertion_mutation.canaries import find_canary
from greenloop.grading.assertion_mutation.candidates import MutableTestFile
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_programs

TESTS = (
    "import pytest\nfrom m import f\n\n\ndef test_a():\n    assert f(2) == 4\n\n\n"
    "def test_b():\n    assert f(3) == 9\n"
)
CODE = "def f(n): return n * n\n"


def with_canary(tests: str, *names: str) -> tuple[str, str]:
    """Return the test that is one, and the file; '' where there is none."""
    file = MutableTestFile(tests, "m")
    found = find_canary(file, list(names))
    return (found.scope.test, file.source.apply_edits(found.change.edits)) if found else ("", "")


def run(box: Sandbox, code: str, tests: str) -> TestRun:
    return box.run_tests(code, [TestFile("test_m.py", tests)], module="m")


def test_a_canary_fails_and_the_other_tests_are_unchanged(warm: Sandbox) -> None:
    name, changed = with_canary(TESTS, "test_a", "test_b")
    assert name == "test_b"
    assert run(warm, CODE, changed).outcomes == {
        "test_m.py::test_a": "passed",
        "test_m.py::test_b": "failed",
    }


CHANGED = read_programs(__file__, "CHANGED")


@pytest.mark.parametrize("name", CHANGED)
def test_a_canary_passes_where_its_function_was_changed(warm: Sandbox, name: str) -> None:
    test, changed = with_canary(TESTS, "test_a", "test_b")
    found = run(warm, CHANGED[name] + CODE, changed)
    assert found.outcomes[f"test_m.py::{test}"] == "passed", found


@pytest.mark.parametrize(
    "test",
    [
        "@patch('re.match')\ndef test_c(match):\n    assert f(1) == 1\n",
        "def test_c(patched):\n    assert f(1) == 1\n",
        "class TestC:\n    def setup_method(self): pass\n    def test_c(self):\n        assert f(1) == 1\n",
        "class TestC(Patched):\n    @pytest.fixture\n    def g(self): pass\n"
        "    def test_c(self):\n        assert f(1) == 1\n",
    ],
)
def test_what_may_patch_a_function_gets_a_bare_canary(test: str) -> None:
    name = "TestC::test_c" if test.startswith("class") else "test_c"
    _, changed = with_canary(TESTS + test, "test_a", name)
    assert "assert 1 == 2" in changed
    assert "re.match" not in changed.replace("'re.match'", "")


@pytest.mark.parametrize(
    "test",
    [
        "def test_c(): assert f(1) == 1\n",
        "@retry\ndef test_c():\n    assert f(1) == 1\n",
        "def test_c():\n    @wrap\n    def g(): return f(1)\n    assert g() == 1\n",
    ],
)
def test_a_test_that_can_have_none_leaves_it_to_the_one_before(test: str) -> None:
    assert with_canary(TESTS + test, "test_a", "test_c")[0] == "test_a"
    assert with_canary(TESTS + test, "test_c") == ("", "")
