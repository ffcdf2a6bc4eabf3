"""Whether the tests pass in the order of trials, before edits are tried on them, and afterwards."""

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.baseline import Baseline
from greenloop.sandbox.guest.trials.server import SURVIVED

TEST = {"test": "a", "outcome": "passed", "cpu_s": 0.1, "lines": [1], "starts_processes": False}


PASSES = {"ending": "verdict", "verdict": SURVIVED}
FAILS = {"ending": "verdict", "verdict": {"killed": "a"}}
LATE = {"ending": "not_run", "verdict": None}  # the time was over: not the tests' doing
READY = {"is_collected": True, "is_loaded": True, "has_threads": False, "collect_s": 0.1}


def build_baseline(names: str, known: list[dict[str, Any]], *answers: Any) -> Baseline:
    budget = SimpleNamespace(deadline=0.0, keep_half=lambda: None, is_over=lambda: False)
    job = {"budget": budget, "tests": known, "is_red": False, "path": "m.py", "max_test_s": 9}
    waiting: list[Any] = [{**READY, "tests": [*names]}, *answers]
    server: Any = SimpleNamespace(receive=lambda deadline: waiting.pop(0))
    return Baseline(job, server, BytesIO())


@pytest.mark.parametrize(
    ("answer", "why"), [(PASSES, ""), (FAILS, "do not pass twice"), (LATE, "")]
)
def test_tests_are_refused_only_where_one_fails(answer: dict[str, Any], why: str) -> None:
    measured = {"ending": "verdict", "tests": [{**TEST, "number": 0}]}
    found = build_baseline("a", [], measured, {}, answer, answer).prepare()
    assert (why in found) if why else found == ""


def test_long_tests_are_not_run_a_second_time() -> None:
    measured = {"ending": "verdict", "tests": [{**TEST, "number": 0, "cpu_s": 9.0}]}
    assert build_baseline("a", [], measured, {}).prepare() == ""


@pytest.mark.parametrize(
    ("names", "answers"),
    [
        ("a", [{}, PASSES]),  # what is known holds here
        ("a", [{}, FAILS, FAILS, {}]),  # only elsewhere
        ("ab", [{}]),  # not all are known
    ],
)
def test_known_tests_are_measured_only_where_they_fail_here(
    names: str, answers: list[dict[str, Any]]
) -> None:
    is_known = PASSES in answers
    baseline = build_baseline(names, [TEST], *answers)
    baseline._measure = lambda numbers: [  # type: ignore[method-assign]
        {**TEST, "test": name, "outcome": "failed"} for name in names
    ]
    baseline.prepare()
    assert {item["outcome"] for item in baseline.tests} == {"passed" if is_known else "failed"}


@pytest.mark.parametrize(
    ("answers", "passing", "dependent"),
    [([PASSES], [0], set()), ([FAILS, PASSES], [0], {0}), ([FAILS, FAILS], [], set())],
)
def test_a_test_that_fails_without_an_edit_notices_none(
    answers: list[Any], passing: list[int], dependent: set[int]
) -> None:
    baseline = build_baseline("a", [TEST], {}, PASSES, *answers)
    assert baseline.prepare() == ""
    is_counted = baseline.is_confirmed({**FAILS, "step": 0})
    assert is_counted == (len(answers) == 1)
    assert (baseline.list_passing(), baseline.dependent) == (passing, dependent)
