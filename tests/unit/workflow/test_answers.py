"""Tests of the user's answers that a run leaves out."""

from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.records import Choice, Contract, Failure, TestRun
from greenloop.testsuite.suite import Suite
from greenloop.workflow.choices import build_answer_tests, leave_out_illustrations


@pytest.mark.parametrize("offered", ["load('x') raises FileNotFoundError", "load('x') -> []"])
def test_answer_about_a_missing_file_stays_a_test(offered: str) -> None:
    taken = {"chosen": "load('x') -> {}", "answered": "user"}
    choice = Choice(id="C1", question="?", answers=(offered,), **taken)
    contract = Contract(
        module="m", summary="", interface="def load(path): ...", requirements=(), choices=(choice,)
    )
    suite = Suite("m").with_answers(build_answer_tests(contract))
    (name,) = suite.names
    failure = Failure(
        test=f"test_m.py::{name}", phase="call", exception="FileNotFoundError", message="x"
    )
    state: Any = SimpleNamespace(suite=suite, tests=suite, contract=contract)
    state.update_expectation = lambda: None
    run: Any = SimpleNamespace(state=state, notify=lambda _: None)
    result = TestRun(ending="finished", exit_status=1, failures=(failure,))
    assert leave_out_illustrations(run, result) is ("FileNotFoundError" not in offered)
