"""No forgery is `verified`; those of the first degree fail."""

import asyncio

import pytest

from greenloop.app.check import run_check, start_check
from greenloop.events import ignore_event
from greenloop.grading import Plan
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.workflow.report_builder import build_report
from tests.security.forgery.case import Subject
from tests.security.forgery.corpus import WRONG
from tests.security.forgery.grading import accusations, report_on
from tests.security.forgery.reader import read_subjects

_SUBJECTS = {forgery.subject: name for name, forgery in WRONG.items()}


def test_there_are_enough_of_each_degree() -> None:
    degrees = [forgery.degree for forgery in WRONG.values()]
    assert degrees.count("first") >= 40
    assert degrees.count("second") >= 30


@pytest.mark.parametrize("name", WRONG)
def test_a_forgery_is_found(box: Sandbox, name: str) -> None:
    forgery = WRONG[name]
    report = report_on(box, forgery.code, forgery.tests(name), forgery.conftest)
    assert report.verdict != "verified"
    assert report.reasons
    if forgery.degree == "first":
        assert report.verdict == "failed", report.reasons


@pytest.mark.parametrize("subject", _SUBJECTS, ids=_SUBJECTS.values())
def test_the_right_module_passes_the_same_tests(box: Sandbox, subject: Subject) -> None:
    """The tests accept a correct module, and nothing accuses it."""
    report = report_on(box, subject.right, subject.tests)
    assert report.verdict == "verified", report.reasons
    assert accusations(report) == []


def test_a_stolen_channel_key_does_not_help_against_canaries(box: Sandbox) -> None:
    """The run without grading is green, so that the grade decides."""
    for name in ("the channel, by gc, at import", "reports of its own, then the end"):
        code = WRONG[f"reports: {name}"].code
        run = box.run_tests(
            code, [TestFile("test_m.py", read_subjects("subjects.md")["square"].tests)], module="m"
        )
        assert run.passed


def test_a_second_test_file_rewritten_by_the_first_ones_import(box: Sandbox) -> None:
    code = (
        "def f(n): return n * n if n < 3 else 0\n"
        "open('test_n.py', 'w').write('def test_n(): pass\\n')\n"
    )
    files = (
        TestFile("test_m.py", "from m import f\n\n\ndef test_m():\n    assert f(2) == 4\n"),
        TestFile("test_n.py", "from m import f\n\n\ndef test_n():\n    assert f(5) == 25\n"),
    )
    check = start_check("m", code, files, Plan(), box.info)
    asyncio.run(run_check(box, check, ignore_event))
    report = build_report(check)
    assert report.verdict == "failed"
    assert report.reasons[0] == "1 test does not pass: test_n.py"
