"""Limits of the steps of a task in a fork."""

from __future__ import annotations

import sys
import time

import pytest

from greenloop.sandbox.guest.trials.fork_pool import ForkPool, ForkResult, ForkTask
from greenloop.sandbox.guest.trials.time_limits import StepLimits, StepReporter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
LIMITS = StepLimits(cpu_s=0.03, idle_s=10.0)


def use_cpu(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def run_steps(count: int, seconds: float) -> ForkResult:
    """Run a task of as many steps that use so much CPU time each."""

    def work(report: StepReporter) -> str:
        for number in range(count):
            report(number)
            use_cpu(seconds)
        return "done"

    pool = ForkPool(1, time.monotonic() + 30, lambda slot: None, lambda slot: None)
    return pool.run_all([ForkTask(0, work, lambda step: LIMITS)])[0]


def test_time_of_earlier_steps_does_not_count() -> None:
    result = run_steps(60, 0.01)  # each look of the pool finds several steps done
    assert (result.ending, result.verdict) == ("verdict", "done")


def test_a_step_that_uses_too_much_ends_the_fork() -> None:
    result = run_steps(2, 5.0)
    assert (result.ending, result.step) == ("timeout", 0)
