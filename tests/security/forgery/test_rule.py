"""The rule for the new cases: see `Case.violation`; tests that are thorough are rewarded."""

import pytest

from greenloop.records import Report
from greenloop.sandbox import Sandbox
from tests.security.forgery.corpus import cases
from tests.security.forgery.grading import report_on

pytestmark = pytest.mark.slow

_NEW = {item.name: item for item in cases("new: ") if item.group == "new"}
_THOROUGH = {item.name: item for item in cases("thorough: ") if item.group == "thorough"}
_MIN_VERIFIED = 0.95


class Reports:
    """The reports on correct modules, each made once."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self._made: dict[str, Report] = {}

    def __getitem__(self, name: str) -> Report:
        if name not in self._made:
            case = _THOROUGH[name]
            self._made[name] = report_on(self._box, case.code, case.tests)
        return self._made[name]


@pytest.fixture(scope="module")
def reports(box: Sandbox) -> Reports:
    return Reports(box)


@pytest.mark.parametrize("name", _NEW)
def test_a_forgery_gets_the_verdict_of_its_attack(box: Sandbox, name: str) -> None:
    case = _NEW[name]
    report = report_on(box, case.code, case.tests)
    assert case.violation(report) == "", report.reasons


@pytest.mark.parametrize("name", _THOROUGH)
def test_a_correct_module_is_not_accused(reports: Reports, name: str) -> None:
    assert _THOROUGH[name].violation(reports[name]) == ""


def test_nearly_all_correct_modules_with_thorough_tests_are_verified(reports: Reports) -> None:
    short = {name: reports[name].reasons for name in _THOROUGH}
    short = {name: reasons for name, reasons in short.items() if reasons}
    assert len(short) <= (1 - _MIN_VERIFIED) * len(_THOROUGH), short
