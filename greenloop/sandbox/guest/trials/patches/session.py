"""The process that has collected the tests of a red module: it tries patches in forks of itself.

A patch is first tried on a few failing tests, many in one fork: nearly all of them end there. The
others are tried on all tests in a fork of their own. What is said here is a claim.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..baseline import BaselineMeasurement
from ..collected_session import CollectedSession
from ..fork_messages import StepLimits
from ..fork_pool import ForkPool, ForkResult, ForkTask
from ..line_tracing import record_calls
from ..mutants.hot_swap import LoadedFunctions, OriginalModule
from ..mutants.outcomes import SURVIVED, killed_verdict, step_limits
from ..mutants.session import ReportStep, SendEvent
from ..time_limit import CpuTimeLimit
from ..workspaces import Workspaces, become_subreaper
from .screening import PASSED, SLOW, STARTED, UNTRIED, PatchedModule, PatchScreen, PatchStatuses

_BATCH_SIZE, _MAX_SCREENING_TESTS, _MAX_SLOW_PATCHES = 30, 5, 40
_MIN_TEST_SECONDS, _TEST_TIME_FACTOR, _IDLE_SECONDS = 0.015, 2, 2.0
_STILL_RED = "still red"


class PatchSession:
    """From the collection to the last patch."""

    def __init__(
        self,
        session: CollectedSession,
        original: OriginalModule,
        workspaces: Workspaces,
        fork_pool: ForkPool,
        send_event: SendEvent,
        module: str,
    ) -> None:
        self._session, self._original, self._workspaces = session, original, workspaces
        self._fork_pool, self._send_event, self._module = fork_pool, send_event, module

    def collect(self) -> bool:
        """Whether the tests can be collected; says so where they cannot."""
        become_subreaper()
        called: set[tuple[str, int]] = set()
        started = time.process_time()
        try:
            with CpuTimeLimit(5), record_calls(self._original.path, called):
                collected = self._session.collect()
        except Exception:
            collected = False
        if not collected:
            self._send_event({"event": "trouble", "what": "the tests cannot be collected"})
            return False
        self._collect_s = time.process_time() - started
        living = LoadedFunctions(self._original.path, called)
        try:
            self._patched_module = PatchedModule(self._module, self._original, living)
        except KeyError:
            self._send_event({"event": "trouble", "what": "the tests do not import the module"})
            return False
        gc.collect()
        gc.freeze()
        return True

    def measure(self, max_cpu_s: float) -> None:
        """Says of each test what it does, in at most so many CPU seconds each."""
        path = self._original.path
        BaselineMeasurement(
            self._session, path, self._workspaces, self._fork_pool, max_cpu_s
        ).report_outcomes(self._send_event)

    def try_all(self, job: dict[str, Any], jobs: int) -> None:
        """The job's splices in their order. Says `passes` of some, and `tried` now and then.

        It ends when `enough` of them pass, or when all that are left are more than `margin` worse
        than the best of those.
        """
        self._tests, splices = job["tests"], job["splices"]
        if [item["id"] for item in self._tests] != [item.nodeid for item in self._session.items]:
            self._send_event({"event": "trouble", "what": "other tests were collected"})
            return
        self._workspaces.peak_bytes = max(item["peak_bytes"] for item in self._tests)
        self._statuses = PatchStatuses(len(splices))
        self._screening_tests = self._choose_screening_tests()
        if not self._run_rounds(splices, jobs, job["enough"], job["margin"]):
            slow = [item for item in splices if self._statuses[item["place"]] == SLOW][
                :_MAX_SLOW_PATCHES
            ]
            for item in slow:
                self._statuses[item["place"]] = UNTRIED
            self._run_round(slow, jobs, 10)

    def _run_rounds(
        self, splices: list[dict[str, Any]], jobs: int, enough: int, margin: float
    ) -> list[float]:
        """The scores of those that pass."""
        passing: list[float] = []
        size = jobs * _BATCH_SIZE
        for start in range(0, len(splices), size):
            some = splices[start : start + size]
            if passing and some[0]["score"] > min(passing) + margin:
                break
            passing += self._run_round(some, jobs, 1)
            if any(self._statuses[item["place"]] == UNTRIED for item in some):
                break  # the time is over
            self._send_event({"event": "tried", "count": start + len(some)})
            if len(passing) >= enough:
                break
        return passing

    def _run_round(
        self, splices: list[dict[str, Any]], jobs: int, time_factor: float
    ) -> list[float]:
        """Those of these that pass all tests: their scores."""
        survivors = (
            self._run_screen(splices, jobs, time_factor) if self._screening_tests else splices
        )
        passing: list[int] = []

        def hear(task: ForkTask, result: ForkResult) -> None:
            if result.verdict == SURVIVED:
                passing.append(task.number)

        self._run_tasks([self._create_full_task(item) for item in survivors], hear)
        for place in sorted(passing):
            self._send_event({"event": "passes", "patch": place})
        return [item["score"] for item in splices if item["place"] in passing]

    def _run_screen(
        self, splices: list[dict[str, Any]], jobs: int, time_factor: float
    ) -> list[dict[str, Any]]:
        """Those that pass the tests of the screen."""
        waiting = [splices[start::jobs] for start in range(jobs)]
        limit_s = time_factor * self._limit_s
        while waiting := [batch for batch in waiting if batch]:
            self._run_tasks(
                [
                    self._create_batch_task(number, item, limit_s)
                    for number, item in enumerate(waiting)
                ]
            )
            for batch in waiting:
                for item in batch:
                    if self._statuses[item["place"]] == STARTED:
                        self._statuses[item["place"]] = SLOW
            left = [self._select_untried(batch) for batch in waiting]
            if left == waiting:  # none was begun: there is no time, or no process
                break
            waiting = left
        return [item for item in splices if self._statuses[item["place"]] == PASSED]

    def _select_untried(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item for item in batch if self._statuses[item["place"]] == UNTRIED]

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

        most_s = limit_s * len(self._screening_tests) * len(splices) + 1
        return ForkTask(number, work, lambda step: StepLimits(most_s, _IDLE_SECONDS))

    def _create_full_task(self, splice: dict[str, Any]) -> ForkTask:
        """One patch, all tests."""

        def work(report: ReportStep) -> str:
            report(-1)
            try:
                self._patched_module.apply(splice)
            except Exception:
                return killed_verdict("collection")
            failing = self._session.run_until_failure(range(len(self._tests)), report)
            return SURVIVED if failing is None else killed_verdict(self._tests[failing]["id"])

        return ForkTask(
            splice["place"], work, lambda step: step_limits(self._tests, self._collect_s, step)
        )

    def _choose_screening_tests(self) -> list[int]:
        """Failing tests that fail by themselves too, quick ones first."""
        tests = self._tests
        sound = [item["cpu_s"] for item in tests if item["outcome"] != "timeout"]
        self._limit_s = _MIN_TEST_SECONDS + _TEST_TIME_FACTOR * (
            statistics.median(sound) if sound else 0.0
        )
        red = [n for n, item in enumerate(tests) if item["outcome"] == "failed"]
        red.sort(key=lambda n: (tests[n]["cpu_s"] > self._limit_s, n))
        red = red or [n for n, item in enumerate(tests) if item["outcome"] == "timeout"][:1]
        still: list[int] = []

        def hear(task: ForkTask, result: ForkResult) -> None:
            if result.verdict != SURVIVED:
                still.append(task.number)

        self._run_tasks(
            [self._create_single_test_task(number) for number in red[:_MAX_SCREENING_TESTS]], hear
        )
        self._enable_hooks_if_needed()
        return [number for number in red if number in still]

    def _create_single_test_task(self, number: int) -> ForkTask:
        def work(report: ReportStep) -> str:
            report(number)
            with CpuTimeLimit(self._limit_s):
                if self._session.run_and_check_passed(number):
                    return SURVIVED
            return _STILL_RED

        return ForkTask(number, work, lambda step: StepLimits(self._limit_s + 1, _IDLE_SECONDS))

    def _enable_hooks_if_needed(self) -> None:
        """The tests that pass must pass here too, as a patch will meet them."""
        green = [n for n, item in enumerate(self._tests) if item["outcome"] == "passed"]

        def work(report: ReportStep) -> str:
            failing = self._session.run_until_failure(green, report)
            return SURVIVED if failing is None else _STILL_RED

        def hear(task: ForkTask, result: ForkResult) -> None:
            if result.verdict != SURVIVED:
                for number in range(len(self._tests)):
                    self._session.enable_hooks(number)

        self._run_tasks(
            [ForkTask(0, work, lambda s: step_limits(self._tests, self._collect_s, s))], hear
        )

    def _run_tasks(
        self,
        tasks: Sequence[ForkTask],
        on_done: Callable[[ForkTask, ForkResult], None] = lambda task, result: None,
    ) -> None:
        self._fork_pool.run(tasks, on_done, clean_slot=self._workspaces.clean)
