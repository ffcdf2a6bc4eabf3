"""Unusual but correct modules are not accused."""

import pytest

from greenloop.sandbox import Sandbox
from tests.security.forgery.corpus import ODD, THOROUGH
from tests.security.forgery.grading import accusations, report_on
from tests.security.forgery.hidden import is_green


def test_there_are_enough() -> None:
    assert len(ODD) >= 57
    assert len(THOROUGH) >= 30


@pytest.mark.parametrize("name", ODD)
def test_an_odd_but_honest_module_is_not_accused(box: Sandbox, name: str) -> None:
    odd = ODD[name]
    report = report_on(box, odd.code, odd.tests)
    assert report.verdict in ("passed", "verified"), report.reasons
    accused = accusations(report)
    if odd.looking:
        accused = [item for item in accused if not item.startswith("differs in isolation")]
    assert accused == []
    found = report.evidence.assertion_mutation
    assert found is not None
    if not odd.weak:
        assert found.green == ()
        assert found.controlled == found.total


@pytest.mark.parametrize("name", THOROUGH)
def test_thorough_tests_pass_and_control_the_module(box: Sandbox, name: str) -> None:
    """What `verified` needs of the tests; a slow machine decides about mutants, so they are left out."""
    odd = THOROUGH[name]
    green, output = is_green(box, odd.code, odd.tests)
    assert green, output
    report = report_on(box, odd.code, odd.tests)
    assert report.verdict in ("passed", "verified"), report.reasons
    found = report.evidence.assertion_mutation
    assert found is not None
    assert (found.reached, found.green) == (True, ())
