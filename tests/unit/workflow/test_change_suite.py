"""What counts as a new test of a change, and which files of tests have to report."""

from greenloop.records import TestOutcome, TestRun
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.workspace import restrict

PATH, TEST = "tests/test_a.py", "import shop\n\n\ndef test_a():\n    assert shop\n"


def test_helper_file_among_the_user_s_tests_need_not_report_a_test() -> None:
    tests = (TestOutcome(id=f"{PATH}::test_a", outcome="passed"),)
    ran = TestRun(ending="finished", exit_status=0, tests=tests)
    assert restrict(ran, [f"{PATH}::test_a"], {PATH: TEST, "tests/conftest.py": ""}).passed
    assert restrict(ran, [], {PATH: TEST, "tests/test_b.py": TEST}).missing == ("tests/test_b.py",)


def test_user_s_test_that_the_project_has_and_that_fails_today_is_new_and_shown() -> None:
    more = f"{TEST}\n\ndef test_b():\n    assert shop.new\n"
    suite = ChangeSuite({PATH: more}, {PATH: more}, frozenset({f"{PATH}::test_a"}), is_given=True)
    assert (list(suite.functions), suite.patch) == ([f"{PATH}::test_b"], "")
    assert suite.code == f"# file: {PATH}\ndef test_b():\n    assert shop.new\n"
