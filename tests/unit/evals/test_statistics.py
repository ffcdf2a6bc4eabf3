"""Statistics compared with published values and other programs."""

import pytest

from greenloop.evals.results import build_eval_report, build_share, wilson_interval
from greenloop.records.batch import EvalSetup, EvalUsage, TaskResult
from greenloop.reporting.evals import render_eval_text
from tests.support.programs import read_table


@pytest.mark.parametrize(("count", "of", "low", "high"), read_table(__file__, "WILSON"))
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    assert wilson_interval(count, of) == pytest.approx((low, high), abs=6e-5)


def test_share_of_zero_tasks_has_no_interval() -> None:
    assert build_share(0, 0).low is None


def test_sums_over_many_tasks_are_shown_in_full() -> None:
    spent = EvalUsage(calls=12345, repairs=1234)
    results = [TaskResult(id=name, sha256="", tests_sha256="", spent=spent) for name in "ab"]
    setup = EvalSetup(tasks="t", format="mbpp", model="m")
    assert "24690" in render_eval_text(build_eval_report(setup, 2, results))
