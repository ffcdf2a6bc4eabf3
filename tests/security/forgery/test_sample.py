"""A sample of forgeries and unusual modules, run by a plain `pytest`."""

import pytest

from greenloop.sandbox import Sandbox
from tests.security.forgery.corpus import ODD, WRONG
from tests.security.forgery.grading import accusations, report_on

_FORGED = (
    "exits: _exit at exit",
    "reports: the channel, by gc, at import",
    "equal: always equal",
)
_NOT_VERIFIED = ("memorised: a table",)


@pytest.mark.parametrize("name", _FORGED)
def test_forged(box: Sandbox, name: str) -> None:
    forgery = WRONG[name]
    report = report_on(box, forgery.code, forgery.tests(name), forgery.conftest)
    assert report.verdict == "failed", report.reasons


@pytest.mark.parametrize("name", _NOT_VERIFIED)
def test_not_verified(box: Sandbox, name: str) -> None:
    forgery = WRONG[name]
    report = report_on(box, forgery.code, forgery.tests(name), forgery.conftest)
    assert report.verdict == "passed"
    assert not all(item.startswith("mutants") for item in report.reasons)


@pytest.mark.parametrize("name", ["a matcher that equals everything", "frames for logging"])
def test_honest(box: Sandbox, name: str) -> None:
    report = report_on(box, ODD[name].code, ODD[name].tests)
    assert report.verdict == "passed"
    assert not any("forged" in item for item in (*report.reasons, *accusations(report)))
