"""Assertion mutation: which tests fail, which stay green, and what time limits cut."""

from pathlib import Path

import pytest

from greenloop.grading.assertion_mutation.evidence import measure
from greenloop.grading.context import GradingContext, Plan
from greenloop.project.snapshot import take_snapshot
from greenloop.records import AssertionMutation, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import TestFile

CODE = "def f(n):\n    return n * n\ndef none():\n    return []\n"
HEAD = "import pytest\nfrom m import f, none\n\n\n"


def measure_evidence(
    box: Sandbox, tests: str, code: str = CODE, **limits: float
) -> AssertionMutation:
    files = [TestFile("test_m.py", HEAD + tests)]
    run = box.run_tests(code, files, module="m")
    assert run.passed, run
    return measure(GradingContext(box, code, files, "m", run, Plan(Thresholds(**limits))))


def test_each_test_is_controlled_or_uncontrolled(warm: Sandbox) -> None:
    found = measure_evidence(
        warm,
        "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    f(1)\n",
        assertion_mutation=0.5,
    )
    assert (found.reached, found.total, found.controlled) == (True, 2, 1)
    assert found.uncontrolled == ("test_m.py::test_b",)


def test_the_threshold_is_a_minimum_share_of_tests(warm: Sandbox) -> None:
    tests = "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    f(1)\n"
    assert not measure_evidence(warm, tests, assertion_mutation=0.51).reached


def test_suites_without_a_mutant_never_reach_the_threshold(warm: Sandbox) -> None:
    found = measure_evidence(warm, "def test_b():\n    f(1)\n", assertion_mutation=0)
    assert (found.reached, found.controlled) == (False, 0)


def test_a_loop_that_never_runs_is_named(warm: Sandbox) -> None:
    tests = "def test_a():\n    for item in none():\n        assert f(item) == 4\n"
    found = measure_evidence(warm, tests)
    assert (found.reached, found.forged) == (False, "")
    assert [(item.test, item.line) for item in found.green] == [("test_m.py::test_a", 7)]


@pytest.mark.parametrize(
    "assertion",
    [
        "all(item == 4 for item in none())",
        "all(f(item) == 4 for item in none())",
        "all(item > 4 for item in none())",
        "all(b > 4 for a, b in zip([f(2)], [f(2)][1:]))",
    ],
)
def test_a_comparison_of_no_member_is_weak_and_no_forgery(warm: Sandbox, assertion: str) -> None:
    found = measure_evidence(warm, f"def test_a():\n    assert {assertion}\n")
    assert (found.reached, found.forged) == (False, "")
    assert not any(item.forged for item in found.green)


def test_an_assertion_that_never_fails_is_named(warm: Sandbox) -> None:
    """Its helper swallows what it asserts; the test's other assertion holds."""
    tests = (
        "class Quiet:\n    def __eq__(self, other): return True\n\n\n"
        "def test_a():\n    assert f(2) == 4\n    assert Quiet() == 4\n"
    )
    found = measure_evidence(warm, tests)
    assert [item.line for item in found.green] == [11]
    assert found.controlled == 0


def test_a_branch_that_is_not_taken_is_no_survivor(warm: Sandbox) -> None:
    tests = "def test_a():\n    if none():\n        assert f(2) == 5\n    f(1)\n"
    found = measure_evidence(warm, tests)
    assert (found.green, found.uncontrolled) == ((), ("test_m.py::test_a",))


def test_only_cases_that_passed_count(warm: Sandbox) -> None:
    tests = (
        "@pytest.mark.parametrize('n, m', [(1, 1), (2, 4), (3, 9)])\n"
        "def test_a(n, m):\n    assert f(n) == m\n"
    )
    found = measure_evidence(warm, tests)
    assert (found.reached, found.total, found.controlled, found.edits) == (True, 1, 1, 2)


def test_assertions_of_helpers_count_for_tests_without_assertions(warm: Sandbox) -> None:
    tests = (
        "def check(n, expected):\n    assert f(n) == expected\n\n\n"
        "def test_a():\n    check(2, 4)\n\n\ndef test_b():\n    assert f(3) == 9\n"
    )
    found = measure_evidence(warm, tests)
    assert (found.reached, found.total, found.controlled) == (True, 2, 2)


@pytest.mark.parametrize(("count", "edits"), [(1, 1), (2, 2), (9, 2)])
def test_two_assertions_of_a_test_are_changed(warm: Sandbox, count: int, edits: int) -> None:
    tests = "def test_a():\n" + "".join(f"    assert f({n}) > {n}\n" for n in range(2, count + 2))
    assert measure_evidence(warm, tests).edits == edits


def test_a_time_limit_reports_the_number_of_runs(warm: Sandbox) -> None:
    tests = "def test_a():\n    assert f(2) == 4\n    assert f(3) == 9\n"
    found = measure_evidence(warm, tests, seconds=1e-9)
    assert (found.reached, found.cut_short) == (False, "out of time after 2 of 3 runs")


@pytest.mark.parametrize(
    ("load", "cut_short"), [(99.0, ""), (0.0, "out of time after 2 of 3 runs")]
)
def test_waiting_counts_where_the_machine_is_idle(
    warm: Sandbox, monkeypatch: pytest.MonkeyPatch, load: float, cut_short: str
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    wait = "import time\n\n\ndef test_w():\n    time.sleep(1.5)\n\n\n"
    tests = f"{wait}def test_a():\n    assert f(2) == 4\n    assert f(3) == 9\n"
    assert measure_evidence(warm, tests, seconds=1.5).cut_short == cut_short


def test_a_conftest_with_hooks_is_no_forgery(warm: Sandbox) -> None:
    """It may turn failures into passes: that is the person's own doing, and named."""
    conftest = (
        "import pytest\n\n\n@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n    report = yield\n"
        "    report.outcome = 'passed'\n    return report\n\n\n"
        "def pytest_exception_interact(report):\n    report.outcome = 'passed'\n"
    )
    files = [
        TestFile("conftest.py", conftest),
        TestFile("test_m.py", HEAD + "def test_a():\n    assert f(2) == 4\n"),
    ]
    run = warm.run_tests(CODE, files, module="m")
    assert run.passed
    found = measure(GradingContext(warm, CODE, files, "m", run))
    assert (found.reached, found.forged) == (False, "")
    assert "hooks of the tests" in found.cut_short
    assert all(not item.forged for item in found.green)


def test_a_mutant_that_ends_the_run_does_not_hide_others(warm: Sandbox) -> None:
    """Where the changed assertion fails, the value that pytest wants to show ends the process."""
    code = (
        f"{CODE}import os\nclass Shy:\n    def __eq__(self, other): return other is None\n"
        "    def __repr__(self): os._exit(3)\n"
    )
    tests = "def test_shy():\n    from m import Shy\n    assert Shy() == None\n\n\n" + "".join(
        f"def test_{n}():\n    assert f({n}) == {n * n}\n\n\n" for n in range(3)
    )
    found = measure_evidence(warm, tests, code)
    assert (found.reached, found.controlled, found.total) == (True, 3, 4)
    assert (found.uncontrolled, found.cut_short) == (("test_m.py::test_shy",), "")


def test_a_value_near_every_number_is_forged(warm: Sandbox) -> None:
    code = (
        "class Near(float):\n    def __sub__(self, other): return 0.0\n"
        "    def __rsub__(self, other): return 0.0\n"
        "def f(n): return Near(0)\ndef none(): return []\n"
    )
    found = measure_evidence(warm, "def test_a():\n    assert abs(f(2) - 4.0) < 1e-9\n", code)
    assert "or greater than, everything" in found.forged


EQUALS_ANSWERS = (
    "class Any(int):\n    def __eq__(self, other): return other in ({answers})\n"
    "    __hash__ = int.__hash__\n"
    "def f(n): return Any(n)\ndef none(): return []\n"
)


@pytest.mark.parametrize(
    "tests",
    [
        "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(3) == 9\n",
        "@pytest.mark.parametrize('n, m', [(2, 4), (3, 9)])\ndef test_a(n, m):\n    assert f(n) == m\n",
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertEqual(f(2), 4)\n        self.assertEqual(f(3), 9)\n",
    ],
    ids=["assert", "parametrize", "unittest"],
)
def test_a_value_that_equals_each_answer_of_the_file_is_forged(warm: Sandbox, tests: str) -> None:
    assert measure_evidence(warm, tests).reached
    found = measure_evidence(warm, tests, EQUALS_ANSWERS.format(answers="4, 9"))
    assert "the value also equals what another test expects" in found.forged or (
        "unittest" in tests and "its negation passes too" in found.forged
    )


def test_a_matcher_that_a_test_creates_may_equal_two_answers(warm: Sandbox) -> None:
    code = f"{CODE}{EQUALS_ANSWERS.format(answers='4, 9').partition('def f')[0]}"
    found = measure_evidence(
        warm,
        "from m import Any\n\n\ndef test_a():\n    assert f(2) == 4\n\n\n"
        "def test_b():\n    assert Any(1) == 4\n    assert Any(1) == 9\n",
        code,
    )
    assert (found.reached, found.forged) == (True, "")


def test_a_change_of_an_unordered_answer_is_no_swap(warm: Sandbox) -> None:
    tests = (
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertCountEqual([f(1), f(2)], [1, 4])\n"
        "    def test_b(self):\n        self.assertCountEqual([f(2), f(1)], [4, 1])\n"
    )
    found = measure_evidence(warm, tests)
    assert (found.reached, found.green) == (True, ())


def test_code_that_works_in_the_first_run_alone_is_found_by_the_unchanged_tests(
    warm: Sandbox,
) -> None:
    """Here another module stands for it, from the second run on."""
    tests = "def test_a():\n    assert f(2) == 4\n\n\ndef test_b():\n    assert f(3) == 9\n"
    files = [TestFile("test_m.py", HEAD + tests)]
    run = warm.run_tests(CODE, files, module="m")
    later = "def f(n): return 0\ndef none(): return []\n"
    found = measure(GradingContext(warm, later, files, "m", run))
    assert not found.reached
    assert found.cut_short == "test_m.py::test_a has another outcome when it is repeated unchanged"
    assert found.unsteady == "test_m.py::test_a"


CONSTANTS = "import _pytest.python\n_pytest.python.Function.runtest = print\nf, none = None, None\n"


def test_a_module_without_functions_that_empties_all_tests_is_forged(warm: Sandbox) -> None:
    found = measure_evidence(warm, "def test_a():\n    assert f(2) == 4\n", CONSTANTS)
    assert "a test that must fail passes" in found.forged


@pytest.mark.slow
def test_a_class_used_as_a_function_is_accused_and_a_matcher_is_not(warm: Sandbox) -> None:
    """Both equal everything; one answers arguments, and is written as a function is."""
    code = (
        "class {0}:\n    def __init__(self, *_): pass\n    def __eq__(self, other): return True\n"
        "def none(): return []\n"
    )
    tests = "from m import {0}\ndef test_a():\n    assert {0}(2) == 4\n    assert {0}(3) == 9\n"
    f, g = "def f(n): return 0\n", code.format("g")
    assert measure_evidence(warm, tests.format("g"), f + g).forged
    matcher = measure_evidence(warm, tests.format("Any"), f + code.format("Any"))
    assert (matcher.forged, matcher.reached) == ("", False)


def test_exceptions_that_derive_from_an_unusual_one_are_honest(warm: Sandbox) -> None:
    code = (
        "class Full(BufferError):\n    pass\n\n\n"
        "class Empty(BufferError):\n    pass\n\n\n"
        "def read(items):\n    if not items:\n        raise Empty('empty')\n    return items[0]\n\n\n"
        "def write(items):\n    if items:\n        raise Full('full')\n    return [1]\n"
    )
    tests = (
        "import pytest\nfrom m import Empty, Full, read, write\n\n\n"
        "def test_read():\n    with pytest.raises(Empty):\n        read([])\n    assert read([2]) == 2\n\n\n"
        "def test_empty():\n    with pytest.raises(Empty):\n        read([])\n\n\n"
        "def test_write():\n    with pytest.raises(Full):\n        write([1])\n"
    )
    evidence = measure_evidence(warm, tests, CODE + code)
    assert (evidence.forged, evidence.green) == ("", ())
    assert evidence.reached


def measure_project(box: Sandbox, root: Path, files: dict[str, str]) -> AssertionMutation:
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    project = take_snapshot(root).model_copy(update={"targets": ("tests/test_m.py",)})
    view, code = ProjectSandbox(box, project, "m.py"), files["m.py"]
    tests = [TestFile("tests/test_m.py", files["tests/test_m.py"])]
    return measure(GradingContext(view, code, tests, "m", view.run_tests(code, tests)))


def test_assertions_of_helpers_that_a_test_file_imports_are_changed(
    warm: Sandbox, tmp_path: Path
) -> None:
    files = {
        "m.py": CODE,
        "tests/__init__.py": "def check(found, wanted):\n    assert found == wanted\n",
        "tests/support.py": "class Checks:\n    def same(self, one, two):\n        assert one == two\n",
        "tests/test_m.py": (
            "import m\nfrom . import check\nfrom tests.support import Checks\n\n\n"
            "def test_a():\n    check(m.f(2), 4)\n\n\nclass TestB(Checks):\n    def test_b(self):\n"
            "        self.same(m.f(3), 9)\n\n\ndef test_c():\n    m.f(1)\n"
        ),
    }
    found = measure_project(warm, tmp_path, files)
    assert found.uncontrolled == ("tests/test_m.py::test_c",)


def test_a_failed_assertion_for_which_a_thread_waits_is_no_missing_time(
    warm: Sandbox, tmp_path: Path
) -> None:
    tests = (
        "import threading\nfrom m import f\ndef test_a():\n    assert f(1) == 1\ndef test_b():\n"
        "    event = threading.Event()\n"
        "    try:\n        assert f(2) == 4\n        event.set()\n    finally:\n"
        "        event.wait()\ndef test_c():\n    assert f(3) == 9\n"
    )
    found = measure_project(warm, tmp_path, {"m.py": CODE, "tests/test_m.py": tests})
    assert (found.reached, found.controlled, found.cut_short) == (True, 3, "")
