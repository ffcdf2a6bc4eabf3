"""Unusual but correct modules are not accused."""

from __future__ import annotations

import pytest

from greenloop.sandbox import Sandbox
from tests.security.forgery.grading import accusations, report_on
from tests.security.forgery.honest import ODD


def test_there_are_enough() -> None:
    assert len(ODD) >= 40


@pytest.mark.parametrize("name", ODD)
def test_an_odd_but_honest_module_is_not_accused(box: Sandbox, name: str) -> None:
    odd = ODD[name]
    report = report_on(box, odd.code, odd.tests)
    assert report.verdict in ("passed", "verified"), report.reasons
    accused = accusations(report)
    if odd.looking:
        accused = [item for item in accused if not item.startswith("only beside its tests")]
    assert accused == []
    found = report.evidence.assertion_mutation
    assert found is not None
    if not odd.weak:
        assert found.green == ()
        assert found.controlled == found.total
