"""Tests and code in two processes: reached, not available, or failing only by another value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.process_isolation import NEEDS_NAMESPACES, measure
from greenloop.records import IsolatedRun, Report
from greenloop.reporting.evidence.text import render_grade
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.testsuite import TestFile

HONEST = "def double(n):\n    return n * 2\n"
TESTS = """
from m import double


def test_two():
    assert double(2) == 4


def test_nine():
    assert double(9) == 18
"""
# It reads the expected value from the constants of its caller.
PEEKING = """
import sys


def double(n):
    known = sys._getframe(1).f_code.co_consts
    return next((item for item in known if type(item) is int and item > n), -1)
"""


def measured(box: Sandbox, code: str, tests: str) -> IsolatedRun:
    files = [TestFile("test_m.py", tests)]
    run = box.run_tests(code, files, module="m")
    assert run.passed, run
    return measure(GradingContext(box, code, files, "m", run))


@pytest.fixture
def isolating(warm: Sandbox) -> Sandbox:
    if not warm.can_isolate:
        pytest.skip(f"no isolation with the backend {warm.info.backend}")
    return warm


def test_an_honest_suite_passes_in_two_processes_too(isolating: Sandbox) -> None:
    assert measured(isolating, HONEST, TESTS) == IsolatedRun(reached=True, form="split")


def test_tests_that_pass_by_the_codes_own_equality_are_named(isolating: Sandbox) -> None:
    code = "class Any:\n    def __eq__(self, other): return True\n"
    tests = "from m import Any\ndef test_a(): assert Any() == 5\ndef test_b(): assert Any\n"
    assert measured(isolating, code, tests).own_equality == ("test_m.py::test_a",)


def test_isolation_needs_namespaces(box: ProcessSandbox) -> None:
    found = measured(box, HONEST, TESTS)
    assert found == IsolatedRun(reached=False, form="shared", why=NEEDS_NAMESPACES)


def test_code_that_reads_its_caller_differs_in_another_process(isolating: Sandbox) -> None:
    found = measured(isolating, PEEKING, TESTS)
    assert (found.reached, found.form) == (False, "shared")
    assert found.only_beside == ("test_m.py::test_nine", "test_m.py::test_two")


NEEDS_ONE_PROCESS = {
    "text is evaluated": (
        "class P:\n    def __init__(self, n): self.n = n\n    def __repr__(self): return f'P({self.n})'\n",
        "from m import P\ndef test_repr():\n    assert eval(repr(P(3))).n == 3\n",
    ),
    "an object is freed": (
        "import weakref\nHELD = weakref.WeakSet()\ndef count(): return len(HELD)\n",
        "from m import HELD, count\nclass It: pass\ndef test_gone():\n    it = It()\n    HELD.add(it)\n"
        "    assert count() == 1\n    del it\n    assert count() == 0\n",
    ),
    "a file in the working folder": (
        "import os\ndef lines(): return len(open('x').readlines()) if os.path.exists('x') else 0\n",
        "from m import lines\ndef test_file():\n    with open('x', 'w') as f: f.write('1')\n"
        "    assert lines() == 1\n",
    ),
    "the source": (
        "def f(): return 1\n",
        "import inspect, m\ndef test_source(): assert inspect.getsource(m.f).count('1') == 1\n",
    ),
}


@pytest.mark.parametrize("name", NEEDS_ONE_PROCESS)
def test_a_suite_that_needs_one_process_is_not_accused(isolating: Sandbox, name: str) -> None:
    found = measured(isolating, *NEEDS_ONE_PROCESS[name])
    assert (found.reached, found.form, found.only_beside) == (False, "shared", ())
    assert "test_m.py::test_" in found.why


@pytest.mark.slow
def test_the_report_names_differing_tests(
    isolating: Sandbox, checked: Callable[..., Report]
) -> None:
    report = checked(PEEKING, TESTS)
    assert report.verdict != "verified"
    if report.verdict == "passed":
        named = (
            "isolation: passes only in the process of its tests: "
            "test_m.py::test_nine, test_m.py::test_two"
        )
        assert named in report.reasons
    assert "SHORT  isolation" in render_grade(report)
    honest = render_grade(checked(HONEST, TESTS))
    assert "in another process" in honest
    assert "passes only in" not in honest
