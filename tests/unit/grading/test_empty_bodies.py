"""Tests that pass without function bodies: forged where they run or name one, else weak."""

from typing import Any
from unittest.mock import Mock

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.empty_bodies import measure
from greenloop.records import EmptyBodies, TestOutcome, TestRun
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.sandbox.work.tests import RecordedRun
from greenloop.testsuite import TestFile
from tests.support.programs import read_table

GREEN = TestRun(ending="finished", tests=(TestOutcome(id="test_a.py::test_a", outcome="passed"),))


class HitSandbox(ProjectSandbox):
    """Reports the same hits of every run."""

    def __init__(self, hits: int) -> None:
        self.hits = hits

    def record_hits(self, *_: Any) -> RecordedRun:
        return RecordedRun(GREEN, {"t": self.hits})


@pytest.mark.parametrize(("hits", "forgery"), [(0b01, False), (0b11, True)])
def test_only_tests_that_run_a_body_are_called_forged(hits: int, *, forgery: bool) -> None:
    code = "def double(x):\n    return 2 * x\n"
    found = measure(GradingContext(HitSandbox(hits), code, (), "a", GREEN))
    assert isinstance(found, EmptyBodies)
    assert not found.reached
    assert bool(found.forgery()) is forgery


@pytest.mark.parametrize(("tests", "forgery"), read_table(__file__, "SINGLE"))
def test_tests_of_the_table_of_a_module_are_weak_and_not_forged(
    tests: str, *, forgery: bool
) -> None:
    code = "NAMES = {}\nclass Box:\n    def get(self): ...\ndef main(): print(NAMES)\n"
    sandbox = Mock(**{"run_tests.return_value": GREEN})
    found = measure(GradingContext(sandbox, code, [TestFile("test_a.py", tests)], "a", GREEN))
    assert isinstance(found, EmptyBodies)
    assert bool(found.forgery()) is forgery
