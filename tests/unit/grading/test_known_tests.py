"""What mutants are told of tests that were run before: outcomes, costs and lines."""

from dataclasses import replace
from typing import Any

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.mutants import _describe_tests
from greenloop.records import Outcome, TestOutcome, TestRun
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.sandbox.work.tests import RecordedRun

CODE = "def double(x):\n    return 2 * x\n"


def build_run(outcome: Outcome) -> TestRun:
    tests = (
        TestOutcome(id="a", outcome=outcome, duration_s=2.0),
        TestOutcome(id="b", outcome="skipped"),
    )
    return TestRun(ending="finished", tests=tests, duration_s=4.0, cpu_s=2.0)


class RecordingSandbox(ProjectSandbox):
    """Reports one recorded run."""

    def __init__(self, recorded: RecordedRun) -> None:
        self.recorded = recorded

    def record_hits(self, *_: Any, **options: Any) -> RecordedRun:
        return self.recorded


RECORDED = RecordedRun(build_run("passed"), {"a": 0b10}, ["a"])


@pytest.mark.parametrize(
    ("recorded", "count"),
    [
        (RECORDED, 2),
        (replace(RECORDED, run=build_run("failed")), 0),  # instrumented, they end otherwise
        (replace(RECORDED, hits={}), 0),  # the module is loaded from elsewhere
    ],
)
def test_tests_are_known_where_the_repetition_shows_the_same(
    recorded: RecordedRun, count: int
) -> None:
    context = GradingContext(RecordingSandbox(recorded), CODE, (), "a", build_run("passed"))
    found = _describe_tests(context)
    assert len(found) == count
    if found:
        assert (found[0].outcome, found[0].cpu_s, found[0].wall_s) == ("passed", 1.0, 2.0)
        assert (found[0].lines, found[0].starts_processes) == ({2}, True)
        assert (found[1].outcome, found[1].lines) == ("skipped", set())
