"""The forgeries over all kinds of test files are what they claim: green under plain pytest, and wrong."""

from collections import Counter
from pathlib import Path

import pytest

from greenloop.sandbox import Sandbox
from tests.security.forgery.case import Subject
from tests.security.forgery.corpus import KINDS, WRONG_BY_KIND
from tests.security.forgery.grading import accusations, report_on
from tests.security.forgery.hidden import is_green, is_wrong, is_wrong_in_a_program


def test_there_are_enough_of_each_kind() -> None:
    """The generic ones are few texts, so they do not count."""
    own = [item for name, item in WRONG_BY_KIND.items() if not name.startswith("generic")]
    assert len({item.code for item in own}) >= 60
    kinds = Counter(item.subject for item in own)
    assert min(kinds[subject] for subject in KINDS.values()) >= 3


@pytest.mark.parametrize("name", WRONG_BY_KIND)
def test_a_forgery_is_green_under_plain_pytest_and_wrong(
    box: Sandbox, name: str, tmp_path: Path
) -> None:
    forgery = WRONG_BY_KIND[name]
    green, output = is_green(box, forgery.code, forgery.tests(name))
    assert green, output
    if name.startswith("recognised observer"):
        assert is_wrong_in_a_program(forgery.code, forgery.subject, tmp_path)
    else:
        assert is_wrong(box, forgery.code, forgery.subject)


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_module_of_a_kind_is_verified(box: Sandbox, kind: str) -> None:
    subject: Subject = KINDS[kind]
    report = report_on(box, subject.right, subject.tests)
    assert report.verdict == "verified", report.reasons
    assert accusations(report) == []
