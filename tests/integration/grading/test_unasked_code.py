"""Lines that neither a test nor a contract asks for are listed, and do not count."""

import asyncio

import pytest

from greenloop.app.check import run_check, start_check
from greenloop.events import ignore_event
from greenloop.grading import Plan
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import Report
from greenloop.reporting.evidence.text import render_grade
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.state import RunState
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
ASKED = """

def test_other_types():
    assert Money(3) != 3
    assert repr(Money(3)) == "Money(3)"
    assert len({Money(3), Money(3)}) == 1
"""


@pytest.mark.parametrize(
    ("contract", "lines"),
    [
        ("", {6, 7, 10, 11, 15}),
        ('{"text": "repr() shows the cents"}', {10, 11, 15}),
        ("Equal ones are hashable", {6, 7, 10, 11}),
        ("returns NotImplemented for others", {6, 7, 15}),
    ],
)
def test_lines_that_the_contract_names_are_asked_for(contract: str, lines: set[int]) -> None:
    assert find_unasked_lines(CODE, contract).keys() == lines


@pytest.mark.parametrize(
    "code",
    [
        "def __repr__():\n    return 1\n",
        "class A:\n    def add(self, o):\n        return NotImplemented\n",
        "class A:\n    def __add__(self, o):\n        if o:\n            o += 1\n            return o\n",
        "class A:\n    def __str__(self):\n        return 'a'\n",
        "def (",
    ],
)
def test_other_lines_are_asked_for(code: str) -> None:
    assert find_unasked_lines(code) == {}


def check(box: Sandbox, tests: str) -> Report:
    state: RunState = start_check("m", CODE, (TestFile("test_m.py", tests),), Plan(), box.info)
    asyncio.run(run_check(box, state, ignore_event))
    return build_report(state)


def test_what_nothing_asks_for_does_not_keep_from_verified(warm: Sandbox) -> None:
    report = check(warm, TESTS)
    assert report.verdict == "verified", report.reasons
    mutation, coverage = report.evidence.mutation, report.evidence.coverage
    assert mutation is not None
    assert coverage is not None
    assert {item.line for item in mutation.equivalent} == {11, 15}
    assert {item.reason.partition(",")[0] for item in mutation.equivalent} == {
        "`NotImplemented` in `__eq__`",
        "in `__hash__`",
    }
    assert "  not counted: line 15 as `return None`: in `__hash__`, which" in render_grade(report)
    assert (coverage.unasked_lines, coverage.line, coverage.branch) == ((6, 7, 11, 15), 1.0, 1.0)


def test_lines_that_a_test_reaches_count(warm: Sandbox) -> None:
    coverage = check(warm, TESTS + ASKED).evidence.coverage
    assert coverage is not None
    assert (coverage.unasked_lines, coverage.line) == ((), 1.0)
