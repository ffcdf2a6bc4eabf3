"""Canaries fail in an honest run, and pass where a function that they call was changed."""

from __future__ import annotations

import pytest

from greenloop.grading.assertion_mutation.canaries import add_canaries
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile

TESTS = "from m import f\n\n\ndef test_a():\n    assert f(2) == 4"


def test_each_canary_fails_and_the_tests_are_unchanged() -> None:
    code, names = add_canaries(TESTS, "m")
    assert code.startswith(TESTS + "\n")
    box: Sandbox
    with open_sandbox(Settings.model_construct(timeout_s=20, memory_mb=512)) as box:
        run = box.run_tests("def f(n): return n * n", [TestFile("test_m.py", code)], module="m")
    assert {name: run.outcomes[f"test_m.py::{name}"] for name in names} == dict.fromkeys(
        names, "failed"
    )
    assert len(names) > 8
    assert set(run.outcomes) == {"test_m.py::test_a", *(f"test_m.py::{name}" for name in names)}
    assert run.outcomes["test_m.py::test_a"] == "passed"


CHANGED = {
    "one of many": "import re\nre.match = lambda *_: 1\n",
    "behind one that breaks": "import copy, json\njson.loads = None\ncopy.deepcopy = lambda _: [2]\n",
    "a way to expect an error": (
        "import pytest\nfrom _pytest.recwarn import WarningsChecker\n"
        "WarningsChecker.__exit__ = lambda *_: None\n"
    ),
    "a method": "import unittest\nunittest.TestCase.assertCountEqual = lambda *_: None\n",
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_canary_passes_where_its_function_was_changed(name: str) -> None:
    code, names = add_canaries(TESTS, "m")
    box: Sandbox
    with open_sandbox(Settings.model_construct(timeout_s=20, memory_mb=512)) as box:
        source = f"{CHANGED[name]}def f(n): return n * n"
        run = box.run_tests(source, [TestFile("test_m.py", code)], module="m")
    passed = [item for item in names if run.outcomes[f"test_m.py::{item}"] == "passed"]
    assert len(passed) == 1, run.outcomes


def test_names_of_canaries_are_free() -> None:
    taken = "def test_m_holds(): pass\ndef test_m_holds_too(): pass\n"
    _, names = add_canaries(taken, "m")
    assert all(name.rpartition("::")[2].startswith("test_m_holds_too_too") for name in names)


@pytest.mark.parametrize(
    "head", ["pytestmark = pytest.mark.x", "def pytest_generate_tests(metafunc): pass"]
)
def test_files_that_change_all_their_tests_get_no_canaries(head: str) -> None:
    assert add_canaries(f"{head}\n{TESTS}", "m") == (f"{head}\n{TESTS}", ())
