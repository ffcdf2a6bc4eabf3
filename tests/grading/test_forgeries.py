"""Wrong modules that make the tests green are `failed`; right ones that look odd are not accused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from greenloop.events import ignore
from greenloop.grading import Plan
from greenloop.records import Report
from greenloop.sandbox import Sandbox
from greenloop.suite import TestFile
from greenloop.way.checking import Check, check_report, run_check
from tests.grading.forgeries import (
    AT_CALL,
    AT_IMPORT,
    CONFTEST,
    EARLY,
    HONEST,
    LEANED_ON,
    TESTS,
)
from tests.grading.honest import ODD

Checked = Callable[..., Report]
ENDING = ("an exit", "an exit at the end")


@pytest.mark.parametrize("name", AT_CALL)
def test_forged_at_call(checked: Checked, name: str) -> None:
    assert_forged(checked(AT_CALL[name], TESTS))


@pytest.mark.parametrize("name", AT_IMPORT)
def test_forged_at_import(checked: Checked, name: str) -> None:
    report = checked(AT_IMPORT[name], TESTS)
    if name in ENDING:
        assert report.verdict == "failed"
    else:
        assert_forged(report)


@pytest.mark.parametrize("name", EARLY)
def test_forged_before_the_tests_are_read(checked: Checked, name: str) -> None:
    # A text of its own: what was rewritten once is not rewritten again, whoever changes how.
    assert_forged(checked(EARLY[name], f"{TESTS}\n# {name}\n", CONFTEST))


@pytest.mark.parametrize("name", LEANED_ON)
def test_what_tests_lean_on_changed(checked: Checked, name: str) -> None:
    assert_forged(checked(*LEANED_ON[name]))


def assert_forged(report: Report) -> None:
    """It was green: what was reported all passed; and that is seen through."""
    assert report.tests
    assert {item.outcome for item in report.tests} == {"passed"}
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: ")


def test_the_right_module_passes_the_same_tests(checked: Checked) -> None:
    for conftest in ("", CONFTEST):
        report = checked(HONEST, TESTS, conftest)
        assert report.verdict in ("passed", "verified")
        assert report.evidence.controls is not None
        assert report.evidence.controls.reached
        assert [text for text in report.reasons if not text.startswith("mutants")] == []


@pytest.mark.parametrize("name", ODD)
def test_an_odd_but_honest_module_is_not_accused(checked: Checked, name: str) -> None:
    report = checked(*ODD[name])
    assert report.verdict in ("passed", "verified"), report.reasons
    found = report.evidence.controls
    assert found is not None
    assert not found.forged
    if not name.startswith(("a matcher", "a bound", "a container")):
        assert found.green == ()
        assert found.controlled == found.total


def test_a_channel_key_that_was_found_out_is_of_no_use_for_sentinels(warm: Sandbox) -> None:
    """The raw run is green, or there would be nothing to see through."""
    for name in ("the channel, by gc", "reports of its own, then the end"):
        run = warm.run_tests(AT_IMPORT[name], [TestFile("test_m.py", TESTS)], module="m")
        assert run.passed


def test_a_second_test_file_rewritten_by_the_first_ones_import(warm: Sandbox) -> None:
    code = (
        "def f(n): return n * n if n < 3 else 0\n"
        "open('test_n.py', 'w').write('def test_n(): pass\\n')\n"
    )
    files = (
        TestFile("test_m.py", "from m import f\n\n\ndef test_m():\n    assert f(2) == 4\n"),
        TestFile("test_n.py", "from m import f\n\n\ndef test_n():\n    assert f(5) == 25\n"),
    )
    check = Check("m", code, files, Plan(), warm.info)
    asyncio.run(run_check(warm, check, ignore))
    assert_forged(check_report(check))
