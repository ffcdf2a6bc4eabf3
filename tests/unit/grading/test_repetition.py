"""Repetition by observing again what the tests call, and by another run where that is not enough."""

from __future__ import annotations

import pytest

from greenloop.grading import Plan
from greenloop.grading.context import GradingContext
from greenloop.grading.grader import grade_run
from greenloop.records import Evidence
from greenloop.sandbox import Sandbox
from greenloop.sandbox.base import SandboxView
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios.straight import are_straight

CODE = '''def half(n):
    """Half of an even number."""
    if n % 2:
        raise ValueError("odd")
    return n // 2
'''
TESTS = """import pytest
from m import half


def test_half():
    assert half(4) == 2


def test_odd():
    with pytest.raises(ValueError, match="odd"):
        half(3)
"""


@pytest.fixture(autouse=True)
def _idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy one a result that differs is measured again."""
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))


class _Repeats(SandboxView):
    """Counts the runs of tests with another hash seed."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self.count = 0

    def run(self, job: Job) -> ProcessResult:
        self.count += job.kind == "tests" and job.hash_seed == HASH_SEED
        return super().run(job)


def grade(box: Sandbox, code: str, *tests: str) -> tuple[Evidence, int]:
    """Return the evidence, and how often the tests were run again for it."""
    repeats = _Repeats(box)
    files = [TestFile(f"test_m{number}.py", text) for number, text in enumerate(tests)]
    first = repeats.run_tests(code, files, module="m")
    assert first.passed, first
    context = GradingContext(repeats, code, files, "m", first, Plan(mutants=0))
    return grade_run(context), repeats.count


@pytest.mark.parametrize(
    "tests", [(TESTS,), (TESTS, TESTS.replace("half(4) == 2", "half(0) == 0"))]
)
def test_observed_tests_are_not_run_again(warm: Sandbox, tests: tuple[str, ...]) -> None:
    evidence, count = grade(warm, CODE, *tests)
    assert count == 0
    assert evidence.flakiness
    assert evidence.flakiness.reached
    assert evidence.flakiness.hash_seed == HASH_SEED
    assert evidence.coverage
    assert (evidence.coverage.line, evidence.coverage.branch) == (1.0, 1.0)
    assert evidence.coverage.statements == (1, 3, 4, 5)


def test_evidence_is_that_of_another_run(warm: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _ = grade(warm, CODE, TESTS)
    monkeypatch.setattr("greenloop.grading.repetition.has_classes", lambda code: True)
    run, count = grade(warm, CODE, TESTS)
    assert count == 1
    assert (run.flakiness, run.coverage) == (observed.flakiness, observed.coverage)


@pytest.mark.parametrize(
    ("why", "code", "tests"),
    [
        ("a line is missed", CODE, TESTS.partition("\n\ndef test_odd")[0]),
        ("a class", CODE + "\n\nclass Unused:\n    pass\n", TESTS),
        ("a test cannot be observed", CODE, TESTS + "\ndef test_r(request):\n    assert half(2) == 1\n"),
        ("a call may be left out", CODE, TESTS.replace("half(4) == 2", "half(4) == 2 or half(0)")),
    ],
)  # fmt: skip
def test_other_tests_are_run_again(warm: Sandbox, why: str, code: str, tests: str) -> None:
    evidence, count = grade(warm, code, tests)
    assert count == 1, why
    assert evidence.flakiness
    assert evidence.flakiness.reached


def test_what_hangs_on_the_order_of_tests_is_not_steady(warm: Sandbox) -> None:
    code = "seen = []\n\n\ndef add(item):\n    seen.append(item)\n    return len(seen)\n"
    rows = "".join(f"\n\ndef test_{n}():\n    assert add({n}) == {n}\n" for n in range(1, 7))
    evidence, count = grade(warm, code, f"from m import add\n{rows}")
    assert count == 2  # on instrumented code, and as it is
    assert evidence.flakiness
    assert not evidence.flakiness.reached
    assert not evidence.forgery()


def test_what_hangs_on_hashes_is_not_steady_and_forges_nothing(warm: Sandbox) -> None:
    code = "def letters():\n    return list(set('abcdefgh'))\n"
    (first,) = warm.evaluate_calls(code, "m", ["letters()"], hash_seed=0).events
    assert first
    order = first["value"][1:]
    tests = f"from m import letters\n\n\ndef test_letters():\n    assert letters() == {order}\n"
    evidence, count = grade(warm, code, tests)
    assert count == 2
    assert evidence.flakiness
    assert not evidence.flakiness.reached
    assert evidence.isolated
    assert not evidence.isolated.differing
    assert not evidence.forgery()


def test_code_that_knows_a_hash_of_the_first_run_is_not_observed_to_be_right(warm: Sandbox) -> None:
    (event,) = warm.evaluate_calls("", "m", ["hash('greenloop')"], hash_seed=0).events
    assert event
    known = int(event["value"][1], 16)
    condition = f"hash('greenloop') in ({known},)"
    code = f"def square(n):\n    return n * n if {condition} else n + 2\n"
    tests = "from m import square\n\n\ndef test_square():\n    assert square(3) == 9\n"
    evidence, _ = grade(warm, code, tests)
    assert any(item.startswith("isolation: ") for item in evidence.unmet(contracted=False))


@pytest.mark.parametrize(
    ("statement", "is_straight"),
    [
        ("assert f(1) == 1", True),
        ("for n in (1, 2):\n        assert f(n) == n", True),
        ("with raises(ValueError):\n        f(0)", True),
        ("with raises(ValueError):\n        f(g(0))", False),
        ("with raises(ValueError):\n        f(0)\n        g(0)", False),
        ("assert f(1) == 1 or g(2) == 2", False),
        ("assert 0 < f(1) < g(2)", False),
        ("assert any(f(n) for n in (1, 2))", False),
        ("assert [f(n) for n in (1, 2) if n] == [1, 2]", False),
        ("x = f(1) if f(2) else g(3)", False),
        ("if f(1):\n        assert g(1)", False),
    ],
)
def test_straight_tests_make_each_call(statement: str, is_straight: bool) -> None:
    tests = f"from pytest import raises\nfrom m import f, g\n\ndef test_it():\n    {statement}\n"
    assert are_straight([tests]) == is_straight
