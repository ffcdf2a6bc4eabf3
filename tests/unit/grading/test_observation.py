"""The first observation of several pieces of evidence, in one process."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from greenloop.grading import GradingContext, Plan
from greenloop.grading.grader import grade_run
from greenloop.records import Evidence, HeldOutExample
from greenloop.sandbox import Sandbox
from greenloop.sandbox.base import SandboxView
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.testsuite import TestFile

PURE = "def scale(n, by=2):\n    if n < 0:\n        raise ValueError(n)\n    return n * by\n"
COUNTER = "made = []\n\ndef scale(n, by=2):\n    made.append(n)\n    return len(made) * by\n"
HANGS = "def scale(n, by=2):\n    while n < 1:\n        pass\n    return n * by\n"
TESTS = """from m import scale

def test_one():
    assert scale(1) == 2

def test_three():
    assert scale(3, 5) == 15
"""
COUNTS = "from m import scale\n\ndef test_first():\n    assert scale(7) == 2\n"


class _CountingSandbox(SandboxView):
    """Counts the jobs that need no test run, by kind."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self.kinds: Counter[str] = Counter()

    def run(self, job: Job) -> ProcessResult:
        self.kinds[job.kind] += job.kind != "tests"
        return super().run(job)


def grade_and_count(
    box: Sandbox, code: str, tests: str, seconds: float = 0.0
) -> tuple[Evidence, dict[str, int]]:
    """Return the evidence, and the number of observing and judging jobs."""
    counting = _CountingSandbox(box)
    files = [TestFile("test_m.py", tests)]
    run = counting.run_tests(code, files, module="m").model_copy(update={"duration_s": seconds})
    plan = replace(Plan(), mutants=0)
    examples = [HeldOutExample(call=f"scale({n}, 3)", returns=str(3 * n)) for n in range(4, 8)]
    held_out = examples if code != COUNTER else [HeldOutExample(call="scale(9)", returns="2")]
    context = GradingContext(counting, code, files, "m", run, plan, held_out=held_out)
    return grade_run(context), dict(+counting.kinds)


@pytest.mark.parametrize(("seconds", "jobs"), [(0.0, 1), (4.0, 1), (9.0, 2)])
def test_one_process_observes_and_one_judges(warm: Sandbox, seconds: float, jobs: int) -> None:
    evidence, kinds = grade_and_count(warm, PURE, TESTS, seconds)
    assert kinds == {"scenarios": jobs, "judge": jobs}
    for piece in (evidence.isolated, evidence.held_out, evidence.memorization):
        assert piece is not None
        assert piece.reached


def test_state_of_other_scenarios_speaks_against_no_test(warm: Sandbox) -> None:
    evidence, kinds = grade_and_count(warm, COUNTER, COUNTS)
    assert kinds["scenarios"] == 2
    assert evidence.held_out is not None
    assert evidence.held_out.agreed == 1
    assert evidence.isolated is not None
    assert (evidence.isolated.agreed, evidence.isolated.not_observable) == (1, ())


def test_variants_that_hang_take_nothing_from_the_others(warm: Sandbox) -> None:
    evidence, _ = grade_and_count(warm, HANGS, TESTS)
    assert evidence.isolated is not None
    assert evidence.isolated.agreed == 2
    assert evidence.held_out is not None
    assert evidence.held_out.agreed == 4
