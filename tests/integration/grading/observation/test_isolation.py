"""Isolation: what agrees, what differs twice and not beside the tests, and what shows nothing."""

import json

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.observation.isolation import measure
from greenloop.records import Isolated, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.observations import Observations, ObservedRow
from greenloop.testsuite import TestFile
from tests.support.programs import read_program

HONEST = "def double(n):\n    return n * 2\n"
TESTS = read_program(__file__, "TESTS")
KNOWS_PYTEST = """
import sys


def double(n):
    return n * 2 if "pytest" in sys.modules else 0
"""
EQUALS_ALL = read_program(__file__, "EQUALS_ALL")
ENDS = read_program(__file__, "ENDS")
ONLY_IN_TESTS = read_program(__file__, "ONLY_IN_TESTS")


def measure_evidence(box: object, code: str, tests: str = TESTS, conftest: str = "") -> Isolated:
    files = [TestFile("conftest.py", conftest)] if conftest else []
    files.append(TestFile("test_m.py", tests))
    found = measure(GradingContext(box, code, files, "m", TestRun(ending="finished")))  # type: ignore[arg-type]
    assert isinstance(found, Isolated)
    return found


def test_tests_of_honest_code_agree(warm: Sandbox) -> None:
    wanted = Isolated(reached=True, tests=2, observed=2, agreed=2, answers=3)
    assert measure_evidence(warm, HONEST) == wanted


@pytest.mark.parametrize("code", [KNOWS_PYTEST, ENDS, ONLY_IN_TESTS])
def test_an_answer_that_needs_the_tests_differs(warm: Sandbox, code: str) -> None:
    found = measure_evidence(warm, code)
    assert (found.reached, found.observed) == (False, 2)
    assert found.differing == ("test_rows", "test_nine")


def test_an_answer_that_only_the_code_can_compare_is_no_evidence(warm: Sandbox) -> None:
    found = measure_evidence(warm, EQUALS_ALL)
    assert (found.reached, found.agreed, found.differing) == (True, 0, ())
    assert (found.answers, found.own_answers) == (3, 3)
    assert "3 of 3 answers" in found.explain_own_answers()


def test_answers_after_a_look_at_the_machine_prove_nothing(box: Sandbox) -> None:
    """It is no accusation: a program may have a reason to look there."""
    code = f"import os\nNAMES = os.listdir(os.sep)\n{HONEST}"
    found = measure_evidence(box, code)
    assert (found.agreed, found.differing, found.own_answers) == (0, (), 3)
    reason = "the code looks at /, which differs in a sandbox"
    assert [item.reason for item in found.not_observable] == [reason, reason]
    assert "2 of 2 tests show nothing, because the code looks at /" in found.explain_own_answers()
    assert measure_evidence(box, code.replace("os.sep", "'.'")).agreed == 2


def test_an_import_that_finds_a_shared_library_spoils_no_answer(warm: Sandbox) -> None:
    found = measure_evidence(warm, f"import ctypes.util\nctypes.util.find_library('c')\n{HONEST}")
    assert (found.agreed, found.own_answers) == (2, 0)


def test_a_look_at_the_machine_in_one_test_spoils_no_other_test(warm: Sandbox) -> None:
    looks = "import m\n\ndef test_names():\n    assert 'tmp' in m.names()\n"
    found = measure_evidence(warm, read_program(__file__, "LOOKS"), looks + TESTS)
    assert (found.agreed, found.own_answers, found.explain_own_answers()) == (2, 1, "")


BRANCHING = (
    "\n\ndef test_branch():\n    if double(1) == 1:\n        return\n    assert double(1) > 1\n"
)


def test_what_cannot_be_observed_for_its_form_keeps_nothing_away(warm: Sandbox) -> None:
    found = measure_evidence(warm, HONEST, TESTS + BRANCHING)
    assert (found.reached, found.tests, found.agreed) == (True, 3, 2)
    assert [item.line for item in found.not_observable] == [16]


AMBIGUOUS = read_program(__file__, "AMBIGUOUS")
REFUSES = "\n\ndef test_refuses():\n    with pytest.raises(ValueError):\n        double(-1)\n"


def test_an_exception_of_unrelated_classes_proves_nothing(warm: Sandbox) -> None:
    found = measure_evidence(warm, AMBIGUOUS, TESTS + REFUSES)
    assert (found.reached, found.ambiguous, found.differing) == (False, ("Wrong",), ())
    other = AMBIGUOUS.replace("KeyError, ValueError", "ValueError")
    assert measure_evidence(warm, other, TESTS + REFUSES).reached


def test_fixtures_of_a_conftest_are_used(warm: Sandbox) -> None:
    conftest = "import pytest\n\n@pytest.fixture\ndef size():\n    return 3\n"
    tests = "from m import double\n\ndef test_size(size):\n    assert double(size) == 6\n"
    found = measure_evidence(warm, HONEST, tests, conftest)
    assert (found.reached, found.agreed, found.not_observable) == (True, 1, ())


class Scripted:
    """A sandbox whose runs end as given: apart, beside the tests, and apart again."""

    def __init__(self, *runs: int | None, error: str = "") -> None:
        self._runs, self._error = list(runs), error

    def observe(self, *_: object, **__: object) -> Observations:
        value = self._runs.pop(0)
        if value is None:
            return Observations((), self._error or "it broke")
        seen = ((1, json.dumps({"value": value})),)
        return Observations((ObservedRow(0, 0, seen, has_ended=True),))


ONE = "from m import double\n\ndef test_nine():\n    assert double(9) == 18\n"


@pytest.mark.parametrize(
    ("runs", "differing", "reason"),
    [
        ([1, 18, 2], ("test_nine",), ""),
        ([1, 2], (), "the copy that greenloop makes"),
        ([1, None], (), "the copy that greenloop makes"),
        ([1, 18, 18], (), "does not give the same result each time"),
        ([None], (), "it broke"),
    ],
)
def test_only_what_differs_twice_and_agrees_beside_the_tests_is_a_finding(
    runs: list[int | None], differing: tuple[str, ...], reason: str
) -> None:
    found = measure_evidence(Scripted(*runs), HONEST, ONE)
    assert (found.reached, found.agreed, found.differing) == (not differing, 0, differing)
    reasons = [item.reason for item in found.not_observable]
    assert len(reasons) == (1 if reason else 0)
    assert all(text.startswith(reason) for text in reasons)


def test_without_a_test_nothing_is_measured() -> None:
    context = GradingContext(object(), HONEST, [], "m", object())  # type: ignore[arg-type]
    assert measure(context) == "no test function was found"
