"""Flakiness and runs without function bodies: the same tests under other conditions."""

import pytest

from greenloop.grading import empty_bodies, flakiness
from greenloop.grading.context import GradingContext
from greenloop.records import EmptyBodies, Flakiness, TestRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.syntax.parse import UNREADABLE
from greenloop.testsuite import TestFile
from tests.support.programs import read_programs

TESTS = "from m import f\n\n\ndef test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(3) == 9\n"
HONEST = "def f(n):\n    return n * n\n"
FORGERIES = read_programs(__file__, "FORGERIES")


def measure(box: ProcessSandbox, code: str) -> EmptyBodies | str:
    tests = [TestFile("test_m.py", TESTS)]
    run = TestRun.model_construct()
    return empty_bodies.measure(GradingContext(box, code, tests, "m", run))


def test_honest_code_fails_without_bodies(box: ProcessSandbox) -> None:
    assert measure(box, HONEST) == EmptyBodies(reached=True, passed=0, failed=2)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_at_import_stays_green(box: ProcessSandbox, name: str) -> None:
    assert measure(box, FORGERIES[name]) == EmptyBodies(reached=False, passed=2, failed=0)


def test_a_module_without_functions_is_not_measured(box: ProcessSandbox) -> None:
    code = "from functools import partial\nimport operator\nf = {2: 4, 3: 9}.get\n"
    assert measure(box, code) == "the code has no functions"


@pytest.mark.parametrize("code", ["def f(:", "x = '\0'", "-" * 100_000 + "1"])
def test_code_that_cannot_be_parsed_is_not_measured(box: ProcessSandbox, code: str) -> None:
    assert measure(box, code) == UNREADABLE


ORDER = "seen = []\ndef f(n):\n    seen.append(n)\n    return n * n if seen[0] == 0 else 0\n"
ORDERED = "from m import f\n\n\n" + "".join(
    f"def test_{n}():\n    assert f({n}) == {n * n}\n\n\n" for n in range(6)
)


def again(box: ProcessSandbox, code: str, tests: str) -> Flakiness:
    files = [TestFile("test_m.py", tests)]
    before = box.run_tests(code, files, module="m")
    return flakiness.measure(GradingContext(box, code, files, "m", before))


def test_steady_tests_end_as_before(box: ProcessSandbox) -> None:
    found = again(box, HONEST, TESTS)
    assert (found.reached, found.differing) == (True, ())


def test_a_dependence_on_the_order_is_found(box: ProcessSandbox) -> None:
    found = again(box, ORDER, ORDERED)
    assert not found.reached
    assert set(found.differing) >= {"test_m.py::test_1"}


def test_a_dependence_on_the_hash_seed_is_found(box: ProcessSandbox) -> None:
    code = "VALUES = list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'})\ndef f(n): return VALUES\n"
    first = box.run_tests(code + "raise ValueError(VALUES)", TESTS, module="m").failures[0].message
    tests = f"from m import f\n\n\ndef test_a():\n    assert f(1) == {first}\n"
    found = again(box, code, tests)
    assert (found.reached, found.differing) == (False, ("test_m.py::test_a",))
