"""Trials of a job's patches in forks of the process that has collected the tests of a red module.

A patch is first tried on a few failing tests, many patches in one fork: nearly all fail there. The
others are tried on all tests, each in a fork of its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from ...limits.cpu_time import CpuTimeLimit
from ..baseline import BaselineMeasurement
from ..context import ReportStep, TrialContext
from ..fork_pool import ForkTask
from ..hot_swap import LoadedFunctions
from ..outcomes import SURVIVED, build_killed_verdict, step_limits
from ..time_limits import StepLimits
from .screening import PASSED, SLOW, STARTED, UNTRIED, PatchedModule, PatchScreen, PatchStatuses

_BATCH_SIZE, _MAX_SCREENING_TESTS, _MAX_SLOW_PATCHES = 30, 5, 40
_MIN_TEST_SECONDS, _TEST_TIME_FACTOR, _IDLE_SECONDS = 0.015, 2, 2.0
_SLOW_TIME_FACTOR, _MAX_COLLECT_SECONDS = 10, 5
_STILL_RED = "still red"


class PatchSession:
    """All trials of one job."""

    def __init__(self, context: TrialContext, module: str) -> None:
        self._context, self._session, self._module = context, context.session, module

    def collect(self) -> bool:
        """Collect the tests; if that fails, report why and return False."""
        functions: LoadedFunctions | None = None
        try:
            with CpuTimeLimit(_MAX_COLLECT_SECONDS):
                functions = self._context.collect()
        except Exception:
            functions = None
        if functions is None:
            self._context.report_trouble("the tests cannot be collected")
            return False
        try:
            self._patched_module = PatchedModule(self._module, self._context.original, functions)
        except KeyError:
            self._context.report_trouble("the tests do not import the module")
            return False
        return True

    def measure(self, max_cpu_s: float) -> None:
        """Report the baseline of each test, with a limit in CPU seconds for each."""
        BaselineMeasurement(self._context, max_cpu_s).report_outcomes()

    def try_all(self, job: dict[str, Any], jobs: int) -> None:
        """Try the job's splices in order; report `passes` for some, and the number `tried`.

        Ends when `enough` of them pass, or when the scores of all others are more than `margin`
        worse than the best score that passed.
        """
        self._tests, splices = job["tests"], job["splices"]
        if [item["id"] for item in self._tests] != [item.nodeid for item in self._session.items]:
            self._context.report_trouble("other tests were collected")
            return
        self._context.workspaces.peak_bytes = max(item["peak_bytes"] for item in self._tests)
        is_alone = any(item["uses_outside"] for item in self._tests)
        self._context.set_width(self._tests, is_alone=is_alone)
        self._statuses = PatchStatuses(len(splices))
        self._screening_tests = self._choose_screening_tests()
        if not self._run_rounds(splices, jobs, job["enough"], job["margin"]):
            slow = self._select(splices, SLOW)[:_MAX_SLOW_PATCHES]
            for item in slow:
                self._statuses[item["place"]] = UNTRIED
            self._run_round(slow, jobs, _SLOW_TIME_FACTOR)

    def _select(self, splices: Sequence[dict[str, Any]], status: int) -> list[dict[str, Any]]:
        return [item for item in splices if self._statuses[item["place"]] == status]

    def _run_rounds(
        self, splices: list[dict[str, Any]], jobs: int, enough: int, margin: float
    ) -> list[float]:
        """Return the scores of those that pass."""
        passing: list[float] = []
        size = jobs * _BATCH_SIZE
        for start in range(0, len(splices), size):
            some = splices[start : start + size]
            if passing and some[0]["score"] > min(passing) + margin:
                break
            passing += self._run_round(some, jobs, 1)
            if self._select(some, UNTRIED):
                break  # the time is over
            self._context.send_event({"event": "tried", "count": start + len(some)})
            if len(passing) >= enough:
                break
        return passing

    def _run_round(
        self, splices: list[dict[str, Any]], jobs: int, time_factor: float
    ) -> list[float]:
        """Report which of these pass all tests, and return their scores."""
        survivors = (
            self._run_screen(splices, jobs, time_factor) if self._screening_tests else splices
        )
        results = self._context.fork_pool.run_all(map(self._create_full_task, survivors))
        passing = [number for number, item in results.items() if item.verdict == SURVIVED]
        for number in sorted(passing):
            self._context.send_event({"event": "passes", "patch": number})
        return [item["score"] for item in splices if item["place"] in passing]

    def _run_screen(
        self, splices: list[dict[str, Any]], jobs: int, time_factor: float
    ) -> list[dict[str, Any]]:
        """Return those that pass the screening tests."""
        waiting = [splices[start::jobs] for start in range(jobs)]
        limit_s = time_factor * self._limit_s
        while waiting := [batch for batch in waiting if batch]:
            self._context.fork_pool.run_all(
                self._create_batch_task(number, batch, limit_s)
                for number, batch in enumerate(waiting)
            )
            for batch in waiting:
                for item in self._select(batch, STARTED):
                    self._statuses[item["place"]] = SLOW
            left = [self._select(batch, UNTRIED) for batch in waiting]
            if left == waiting:  # none was started: no time or no process is left
                break
            waiting = left
        return self._select(splices, PASSED)

    def _create_batch_task(
        self, number: int, splices: list[dict[str, Any]], limit_s: float
    ) -> ForkTask:
        def work(report: ReportStep) -> str:
            report(0)
            screen = PatchScreen(
                self._session, self._patched_module, self._screening_tests, limit_s
            )
            screen.try_patches(splices, self._statuses)
            return "screened"

        max_s = limit_s * len(self._screening_tests) * len(splices) + 1
        return ForkTask(number, work, lambda step: StepLimits(max_s, _IDLE_SECONDS))

    def _create_full_task(self, splice: dict[str, Any]) -> ForkTask:
        """Create the task that tries one patch on all tests."""

        def work(report: ReportStep) -> str:
            report(-1)
            try:
                self._patched_module.apply(splice)
            except Exception:
                return build_killed_verdict("collection")
            failing = self._session.run_until_failure(range(len(self._tests)), report)
            return SURVIVED if failing is None else build_killed_verdict(self._tests[failing]["id"])

        return ForkTask(splice["place"], work, self._step_limits)

    def _step_limits(self, step: int) -> StepLimits:
        return step_limits(self._tests, self._context.collect_s, step)

    def _choose_screening_tests(self) -> list[int]:
        """Return failing tests that also fail alone, quick ones first."""
        tests = self._tests
        costs = [item["cpu_s"] for item in tests if item["outcome"] != "timeout"]
        median = statistics.median(costs) if costs else 0.0
        self._limit_s = _MIN_TEST_SECONDS + _TEST_TIME_FACTOR * median
        red = [n for n, item in enumerate(tests) if item["outcome"] == "failed"]
        red.sort(key=lambda n: (tests[n]["cpu_s"] > self._limit_s, n))
        red = red or [n for n, item in enumerate(tests) if item["outcome"] == "timeout"][:1]
        tasks = map(self._create_single_test_task, red[:_MAX_SCREENING_TESTS])
        results = self._context.fork_pool.run_all(tasks)
        self._enable_hooks_if_needed()
        return [n for n in red if n in results and results[n].verdict != SURVIVED]

    def _create_single_test_task(self, number: int) -> ForkTask:
        def work(report: ReportStep) -> str:
            report(number)
            with CpuTimeLimit(self._limit_s):
                if self._session.run_and_check_passed(number):
                    return SURVIVED
            return _STILL_RED

        return ForkTask(number, work, lambda step: StepLimits(self._limit_s + 1, _IDLE_SECONDS))

    def _enable_hooks_if_needed(self) -> None:
        """Run all tests with pytest's hooks if the passing tests do not pass without them."""
        green = [n for n, item in enumerate(self._tests) if item["outcome"] == "passed"]

        def work(report: ReportStep) -> str:
            failing = self._session.run_until_failure(green, report)
            return SURVIVED if failing is None else _STILL_RED

        task = ForkTask(0, work, self._step_limits)
        result = self._context.fork_pool.run_all([task])[0]
        if result.verdict != SURVIVED:
            for number in range(len(self._tests)):
                self._session.enable_hooks(number)
