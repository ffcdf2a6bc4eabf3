"""Order of the trials of mutants: in batches first, then each undecided one in its own fork."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..context import TrialContext
from ..fork_pool import ForkResult, ForkTask
from ..hot_swap import LoadedFunctions
from ..outcomes import (
    NEEDS_IMPORT,
    QUICK_TEST_SECONDS,
    SURVIVED,
    build_killed_verdict,
    build_started_event,
    is_killed,
    result_event,
    step_limits,
)
from ..time_limits import StepReporter
from .batches import BATCH_SIZE, BatchMutant, BatchResult, MutantBatches
from .swaps import KILLED, FunctionSwap, ModuleSwap, Swap, confirm_failure

_MAX_IMPORT_ATTEMPTS = 2  # some modules cannot be reloaded in place: then each batch breaks off


class MutantScheduler:
    """Tries mutants on collected tests."""

    def __init__(
        self,
        context: TrialContext,
        loaded_functions: LoadedFunctions,
        tests: Sequence[dict[str, Any]],
        lines: Sequence[set[int]],
        use_batches: bool,
    ) -> None:
        """`tests` is the baseline of each test, `lines` are the module's lines that it reaches.

        Without `use_batches` each mutant has a fork of its own.
        """
        self._context, self._session = context, context.session
        self._original, self._loaded_functions = context.original, loaded_functions
        self._swap = FunctionSwap(context.original, loaded_functions)
        self._import_mutants: set[int] = set()
        self._tests, self._lines, self._use_batches = tests, lines, use_batches
        self.passing_tests = [n for n, item in enumerate(tests) if item["outcome"] == "passed"]
        self._dependent_tests: set[int] | None = None

    def check_baseline(self) -> bool:
        """Return whether the tests pass under the conditions of a trial."""
        if not self._find_failing({len(self._tests): self.passing_tests}):
            return True
        self._find_dependent()
        return not self._find_failing({len(self._tests): self.passing_tests})

    def try_all(self, splices: Sequence[dict[str, Any]]) -> None:
        """Send for each mutant `started` and `mutant`, or `fresh`."""
        mutants: list[BatchMutant] = []
        for splice in splices:
            chosen = self._choose_tests(splice["lines"])
            changed = self._original.compile_changed_functions(splice) if not chosen else None
            if chosen:
                mutants.append(BatchMutant(splice, chosen))
            elif self._loaded_functions.affects_import(changed):
                self._import_mutants.add(splice["number"])
            else:
                event = {"event": "mutant", "mutant": splice["number"], "outcome": "uncovered"}
                self._context.send_event(event)
        fitting = [
            item
            for item in mutants
            if self._use_batches and self._session.can_repeat(item.test_numbers)
        ]
        found = self._run_batches(fitting, self._swap)
        self._import_mutants.update(found.needs_import)
        if found.is_unstable or not all(
            self._session.can_repeat(item.test_numbers) for item in mutants
        ):
            self._find_dependent()
        decided = found.killed.keys() | set(found.needs_import)
        self._run_singly([item.splice for item in mutants if item.number not in decided])
        self._try_imports([item for item in splices if item["number"] in self._import_mutants])

    def _try_imports(self, splices: Sequence[dict[str, Any]]) -> None:
        """Try mutants of what runs at import in place; those not killed need a fresh import."""
        tests = [n for n in self.passing_tests if self._session.can_repeat([n])]
        killed: Mapping[int, int] = {}
        swap = ModuleSwap.find(self._original) if self._use_batches and tests else None
        if swap:
            mutants = [BatchMutant(item, self._sort_nearest_first(tests, item)) for item in splices]
            killed = self._run_batches(mutants, swap, _MAX_IMPORT_ATTEMPTS).killed
        for number in (item["number"] for item in splices if item["number"] not in killed):
            self._context.send_event({"event": "fresh", "mutant": number})

    def _run_batches(
        self, mutants: Sequence[BatchMutant], swap: Swap, max_attempts: int = BATCH_SIZE
    ) -> BatchResult:
        costs = [(item["cpu_s"], item["wall_s"]) for item in self._tests]
        batches = MutantBatches(self._context, swap, costs)
        found = batches.try_all(mutants, self._report_started, max_attempts)
        for number, test in sorted(found.killed.items()):
            name = "collection" if test == batches.collection else self._tests[test]["id"]
            killed = ForkResult("verdict", build_killed_verdict(name))
            self._report_result(
                number, ForkResult("timeout", step=test) if number in found.late else killed
            )
        return found

    def _run_singly(self, splices: Sequence[dict[str, Any]]) -> None:
        """Try each mutant in a fork of its own.

        A test that fails may do so only because a test that it depends on was not run. So kills
        that do not repeat are reported after the dependent tests are known.
        """
        held: dict[int, ForkResult] = {}

        def receive(task: ForkTask, result: ForkResult) -> None:
            is_certain = self._dependent_tests is not None or KILLED in result.notes
            if is_killed(result.verdict) and not is_certain:
                held[task.number] = result
            else:
                self._report_result(task.number, result)

        pool = self._context.fork_pool
        tasks = [self._create_mutant_task(splice) for splice in splices]
        pool.run(tasks, receive, lambda task: self._report_started([task.number]))
        if not held:
            return
        self._find_dependent()
        if self._dependent_tests:
            again = [splice for splice in splices if splice["number"] in held]
            tasks = [self._create_mutant_task(splice) for splice in again]
            pool.run(tasks, lambda task, result: self._report_result(task.number, result))
            return
        for number, result in held.items():
            self._report_result(number, result)

    def _find_dependent(self) -> None:
        """Find the tests that pass only after others; some only need pytest's hooks."""
        if self._dependent_tests is not None:
            return
        alone = self._find_failing({number: [number] for number in self.passing_tests})
        again = [number for number in alone if self._session.enable_hooks(number)]
        still = self._find_failing({number: [number] for number in again})
        self._dependent_tests = (set(alone) - set(again)) | set(still)

    def _find_failing(self, test_numbers: dict[int, list[int]]) -> list[int]:
        """Return which of these selections of tests fail on the original code."""
        tasks = [self._create_task(number, chosen, None) for number, chosen in test_numbers.items()]
        results = self._context.fork_pool.run_all(tasks)
        return sorted(number for number, item in results.items() if item.verdict != SURVIVED)

    def _choose_tests(self, lines: Sequence[int]) -> list[int]:
        """Return the tests that reach one of these lines, quick ones first.

        If one of them depends on others: in the file's order, with all tests before them.
        """
        reached = set(range(lines[0], lines[1] + 1))
        chosen = [number for number in self.passing_tests if self._lines[number] & reached]
        if self._dependent_tests and self._dependent_tests.intersection(chosen):
            return [number for number in self.passing_tests if number <= chosen[-1]]
        return self._sort_quick_first(chosen)

    def _sort_quick_first(self, numbers: Sequence[int]) -> list[int]:
        return sorted(numbers, key=lambda n: (self._tests[n]["cpu_s"] > QUICK_TEST_SECONDS, n))

    def _sort_nearest_first(self, numbers: Sequence[int], splice: dict[str, Any]) -> list[int]:
        """Return the tests in another order: first those that reach the function around a splice."""
        start, end, first, _ = splice["unit"]
        around = range(first, first + self._original.text.count("\n", start, end) + 1)
        return sorted(
            self._sort_quick_first(numbers), key=lambda n: self._lines[n].isdisjoint(around)
        )

    def _create_mutant_task(self, splice: dict[str, Any]) -> ForkTask:
        return self._create_task(splice["number"], self._choose_tests(splice["lines"]), splice)

    def _create_task(
        self, number: int, test_numbers: Sequence[int], splice: dict[str, Any] | None
    ) -> ForkTask:
        def work(report: StepReporter) -> str:
            apply = self._swap.prepare(splice) if splice else None
            if apply and not apply():
                return NEEDS_IMPORT
            failing = self._session.run_until_failure(test_numbers, report)
            if failing is None:
                return SURVIVED
            if apply and self._session.can_repeat(test_numbers):
                report(failing)  # with a time limit of its own
                loops = self._context.loop_counter
                report.note(confirm_failure(self._session, failing, apply, self._swap, loops))
            return build_killed_verdict(self._tests[failing]["id"])

        collect_s = self._context.collect_s
        return ForkTask(number, work, lambda step: step_limits(self._tests, collect_s, step))

    def _report_started(self, numbers: Sequence[int]) -> None:
        self._context.send_event(build_started_event(numbers))

    def _report_result(self, number: int, result: ForkResult) -> None:
        if result.verdict == NEEDS_IMPORT:
            self._import_mutants.add(number)
        else:
            self._context.send_event(result_event(number, result, self._tests))
