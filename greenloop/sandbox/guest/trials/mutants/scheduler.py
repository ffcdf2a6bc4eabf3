"""Mutants tried on tests that are collected: in batches first, then those that are open alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..collected_session import CollectedSession
from ..fork_messages import StepReporter
from ..fork_pool import ForkPool, ForkResult, ForkTask
from ..workspaces import Workspaces
from .batches import BatchMutant, BatchResult, MutantBatches
from .hot_swap import LoadedFunctions, OriginalModule
from .loop_detection import find_loop_exit_lines
from .outcomes import (
    NEEDS_IMPORT,
    QUICK_TEST_SECONDS,
    SURVIVED,
    killed_verdict,
    result_event,
    started_event,
    step_limits,
)

SendEvent = Callable[[dict[str, Any]], None]


class MutantScheduler:
    """`tests` are what the healthy run told of each, `lines` what it reached of the module."""

    def __init__(
        self,
        session: CollectedSession,
        original: OriginalModule,
        loaded_functions: LoadedFunctions,
        tests: Sequence[dict[str, Any]],
        lines: Sequence[set[int]],
        collect_s: float,
    ) -> None:
        self._session, self._original, self._loaded_functions = session, original, loaded_functions
        self._tests, self._lines, self._collect_s = tests, lines, collect_s
        self.passing_tests = [n for n, item in enumerate(tests) if item["outcome"] == "passed"]
        self._loop_exit_lines = find_loop_exit_lines(original.text)
        self._dependent_tests: set[int] | None = None

    def configure(
        self, fork_pool: ForkPool, workspaces: Workspaces, send_event: SendEvent, use_batches: bool
    ) -> None:
        """Without `together` each mutant has a fork of its own."""
        self._fork_pool, self._workspaces, self._send_event, self._use_batches = (
            fork_pool,
            workspaces,
            send_event,
            use_batches,
        )

    def check_baseline(self) -> bool:
        """Whether the tests pass as mutants will meet them."""
        if not self._find_failing({len(self._tests): self.passing_tests}):
            return True
        self._find_dependent()
        return not self._find_failing({len(self._tests): self.passing_tests})

    def try_all(self, splices: Sequence[dict[str, Any]]) -> None:
        """Says of each mutant `started` and `mutant`, or `fresh`."""
        members: list[BatchMutant] = []
        for splice in splices:
            chosen = self._choose_tests(splice["lines"])
            if chosen:
                members.append(BatchMutant(splice, chosen))
            elif self._loaded_functions.affects_import(
                self._original.compile_changed_functions(splice)
            ):
                self._send_event({"event": "fresh", "mutant": splice["number"]})
            else:
                said = {"event": "mutant", "mutant": splice["number"], "outcome": "uncovered"}
                self._send_event(said)
        fitting = [item for item in members if self._use_batches and self._can_share_process(item)]
        found = self._run_batches(fitting)
        if found.is_unstable or not all(
            self._session.can_repeat(item.test_numbers) for item in members
        ):
            self._find_dependent()
        settled = found.killed.keys() | set(found.needs_import)
        self._run_singly([item.splice for item in members if item.number not in settled])

    def _can_share_process(self, mutant: BatchMutant) -> bool:
        """Whether it can share a process. What may well run for ever is tried once, by itself."""
        first, last = mutant.splice["lines"]
        if not self._loop_exit_lines.isdisjoint(range(first, last + 1)):
            return False
        return self._session.can_repeat(mutant.test_numbers)

    def _run_batches(self, mutants: Sequence[BatchMutant]) -> BatchResult:
        costs = [(item["cpu_s"], item["wall_s"]) for item in self._tests]
        batches = MutantBatches(self._session, self._original, self._loaded_functions, costs)
        found = batches.try_all(
            mutants, self._fork_pool, self._report_started, self._workspaces.clean
        )
        for number, test in sorted(found.killed.items()):
            verdict = ForkResult("verdict", killed_verdict(self._tests[test]["id"]))
            self._send_event(result_event(number, verdict, self._tests))
        for number in found.needs_import:
            self._send_event({"event": "fresh", "mutant": number})
        return found

    def _run_singly(self, splices: Sequence[dict[str, Any]]) -> None:
        """What tests need of one another matters only where one of them is red.

        Then it may be so for want of another test, so before it is believed that is found out.
        """
        held: dict[int, ForkResult] = {}

        def hear(task: ForkTask, result: ForkResult) -> None:
            if self._dependent_tests is None and result.verdict.startswith(killed_verdict("")[:-2]):
                held[task.number] = result
            else:
                self._report_result(task, result)

        self._run_tasks(
            [self._create_mutant_task(splice) for splice in splices],
            hear,
            self._report_task_started,
        )
        if not held:
            return
        self._find_dependent()
        if self._dependent_tests:
            again = [splice for splice in splices if splice["number"] in held]
            self._run_tasks(
                [self._create_mutant_task(splice) for splice in again], self._report_result
            )
            return
        for number, result in held.items():
            self._send_event(result_event(number, result, self._tests))

    def _find_dependent(self) -> None:
        """Which tests only pass after others; some need pytest's hooks for that."""
        if self._dependent_tests is not None:
            return
        alone = self._find_failing({number: [number] for number in self.passing_tests})
        again = [number for number in alone if self._session.enable_hooks(number)]
        still = self._find_failing({number: [number] for number in again})
        self._dependent_tests = (set(alone) - set(again)) | set(still)

    def _find_failing(self, test_numbers: dict[int, list[int]]) -> list[int]:
        """Which of these choices of tests do not pass on the code itself."""
        failing: list[int] = []

        def hear(task: ForkTask, result: ForkResult) -> None:
            if result.verdict != SURVIVED:
                failing.append(task.number)

        self._run_tasks(
            [self._create_task(number, chosen, None) for number, chosen in test_numbers.items()],
            hear,
        )
        return sorted(failing)

    def _choose_tests(self, lines: Sequence[int]) -> list[int]:
        """The tests that reach one of these lines, quick ones first.

        Where one of them only passes after others: in the file's order, with all that come before.
        """
        reached = set(range(lines[0], lines[1] + 1))
        chosen = [number for number in self.passing_tests if self._lines[number] & reached]
        if self._dependent_tests and self._dependent_tests.intersection(chosen):
            return [number for number in self.passing_tests if number <= chosen[-1]]
        return sorted(
            chosen, key=lambda number: (self._tests[number]["cpu_s"] > QUICK_TEST_SECONDS, number)
        )

    def _create_mutant_task(self, splice: dict[str, Any]) -> ForkTask:
        return self._create_task(splice["number"], self._choose_tests(splice["lines"]), splice)

    def _create_task(
        self, number: int, test_numbers: Sequence[int], splice: dict[str, Any] | None
    ) -> ForkTask:
        def work(report: StepReporter) -> str:
            if splice and not self._loaded_functions.replace(
                self._original.compile_changed_functions(splice)
            ):
                return NEEDS_IMPORT
            failing = self._session.run_until_failure(test_numbers, report)
            return SURVIVED if failing is None else killed_verdict(self._tests[failing]["id"])

        return ForkTask(number, work, lambda step: step_limits(self._tests, self._collect_s, step))

    def _report_task_started(self, task: ForkTask) -> None:
        self._report_started(task.number)

    def _report_started(self, number: int) -> None:
        self._send_event(started_event(number))

    def _report_result(self, task: ForkTask, result: ForkResult) -> None:
        if result.verdict == NEEDS_IMPORT:
            self._send_event({"event": "fresh", "mutant": task.number})
        else:
            self._send_event(result_event(task.number, result, self._tests))

    def _run_tasks(
        self,
        tasks: list[ForkTask],
        on_done: Callable[[ForkTask, ForkResult], None],
        on_start: Callable[[ForkTask], None] = lambda task: None,
    ) -> None:
        self._fork_pool.run(tasks, on_done, on_start, self._workspaces.clean)
