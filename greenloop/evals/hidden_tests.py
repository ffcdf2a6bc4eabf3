"""Runs of a task's hidden tests on the final code, or on the data's reference solution."""

import os
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any

from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError, PackagesError
from greenloop.evals.task import EvalTask
from greenloop.grading import GradingContext
from greenloop.grading.observation.isolation import measure as measure_isolation
from greenloop.grading.unreported_tests import find_unreported_tests
from greenloop.records import Failure, Isolated, Record, TestRun
from greenloop.records.batch import GroundTruth
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import get_function_name, parse_test_functions
from greenloop.threads import complete_in_thread
from greenloop.workflow.make.strategy import run_concurrently

# Function in which datasets/evalplus_harness.py.txt runs the reference solution.
_SOLUTION_FUNCTION = "_answers_of_the_task"
_MAX_REASON_CHARACTERS = 300


@dataclass(frozen=True)
class HiddenTestsOutcome:
    """Result of the hidden tests, and the reason where it is not `passed`."""

    truth: GroundTruth | None
    reason: str = ""
    passed: int = 0
    failed: int = 0
    isolated: int = 0  # test functions with equal results in an isolated run


async def run_hidden_tests(
    task: EvalTask,
    code: str,
    sandbox_factory: "TaskSandboxFactory",
    contract_packages: tuple[str, ...] = (),
) -> HiddenTestsOutcome:
    """Run the hidden tests on the code.

    Tests that pass only in the process of the tests, not in an isolated run, count as failed.
    `contract_packages` may be used by the code. Raises SandboxError: the sandbox cannot run.
    """
    if not code.strip():
        return HiddenTestsOutcome("failed", "there is no code")
    try:
        box = await sandbox_factory.create_sandbox(task, code, contract_packages)
    except PackagesError as error:
        return HiddenTestsOutcome("unknown", str(error).partition("\n")[0])
    files = [item.to_test_file() for item in task.tests]
    return await complete_in_thread(
        partial(_run_and_isolate, box, task, code, files), box.interrupt_runs
    )


def _run_and_isolate(
    box: Sandbox, task: EvalTask, code: str, files: list[TestFile]
) -> HiddenTestsOutcome:
    """Run the tests; where they pass, compare the code's results with those of isolated runs."""
    run = box.run_tests(code, files, module=task.module)
    outcome = outcome_from_run(files, run)
    if outcome.truth != "passed":
        return outcome
    found = measure_isolation(GradingContext(box, code, files, task.module, run))
    if not isinstance(found, Isolated):
        return outcome
    if found.differing:
        why = f"{found.differing[0]} passes only in the process of the tests"
        return replace(outcome, truth="failed", reason=why, isolated=found.agreed)
    return replace(outcome, isolated=found.agreed)


def outcome_from_run(files: list[TestFile], run: TestRun) -> HiddenTestsOutcome:
    """Return the result of one run of the hidden tests."""
    functions = ((file, test) for file in files for test in parse_test_functions(file.code))
    # Only tests whose text allows a skip may be skipped: in others the code caused the skip.
    skippable = {f"{file.name}::{test.name}" for file, test in functions if test.can_skip}
    broken = next((item for item in run.failures if _is_solution_at_fault(files, item)), None)
    if broken:
        why = f"the task's own solution: {broken.exception}: {broken.message}"
    else:
        why = _find_failure_reason(files, run, skippable)
    truth: GroundTruth = "unknown" if broken else "failed" if why else "passed"
    failed = sum(_qualify_test_name(item) not in skippable for item in run.failing_tests)
    return HiddenTestsOutcome(truth, why[:_MAX_REASON_CHARACTERS], run.passed_count, failed)


def _find_failure_reason(files: list[TestFile], run: TestRun, skippable: set[str]) -> str:
    """Return the first reason for a failure; '' where all tests passed that may not be skipped."""
    for failure in run.failures:
        name = failure.test.partition("::")[2] or failure.test
        return f"{name}: {failure.exception}: {failure.message.strip().partition(chr(10))[0]}"
    if run.ending != "finished":
        return f"{run.ending}: {run.detail}"
    if missing := find_unreported_tests(files, run):
        return f"{missing[0]} was never reported"
    if not run.passed_count:
        return "no hidden test passed"
    for test in run.tests:
        if test.outcome != "passed" and _qualify_test_name(test.id) not in skippable:
            return f"{test.id} ended as {test.outcome}"
    return "" if run.exit_status == 0 else f"exit status {run.exit_status}"


def _qualify_test_name(test: str) -> str:
    return f"{test.partition('::')[0]}::{get_function_name(test)}"


def _is_solution_at_fault(files: list[TestFile], failure: Failure) -> bool:
    """Return whether the reference solution failed or took too long, and not the code."""
    names = {item.name for item in files}
    return any(f.function == _SOLUTION_FUNCTION and f.file in names for f in failure.frames)


# EvalPlus allows 4 GB, and 60 s for all inputs of a task. Here the reference solution runs first in
# the same run, and takes that long for the slowest task.
_EVALPLUS_LIMITS: dict[str, Any] = {"timeout_s": 120.0, "memory_mb": 4096}


def adapt_settings_to_format(settings: Settings, format: str) -> Settings:
    """Return the sandbox settings for the hidden tests; settings given by the user are kept."""
    if format != "evalplus":
        return settings
    defaults = {k: v for k, v in _EVALPLUS_LIMITS.items() if k not in settings.model_fields_set}
    return settings.model_copy(update=defaults)


class TaskSandboxFactory:
    """Factory of sandboxes with the packages that tests, code and contract need."""

    def __init__(self, sandbox: Sandbox, provider: PackageResolver) -> None:
        self.sandbox, self._provider = sandbox, provider

    async def create_sandbox(
        self, task: EvalTask, code: str = "", contract_packages: Collection[str] = ()
    ) -> Sandbox:
        """Return a sandbox. Raises PackagesError where an allowed package cannot be installed."""
        own = {task.module, *(PurePath(item.name).stem for item in task.tests)}
        sources = [code, *(item.code for item in task.tests)]
        names = self._provider.find_imported(sources, own) | set(contract_packages)
        if not names:
            return self.sandbox
        return self.sandbox.with_packages(await self._provider.install(names))


async def for_each_task(
    tasks: Iterable[EvalTask], work: Callable[[EvalTask], Awaitable[None]]
) -> None:
    """Do the work for all tasks, several at once. After an error no other task is begun."""
    waiting, errors = iter(tasks), list[GreenloopError]()

    async def run_worker() -> None:
        for task in waiting:
            if errors:
                return
            try:
                await work(task)
            except GreenloopError as error:
                errors.append(error)
                raise

    await run_concurrently(*(run_worker() for _ in range(default_concurrency())))


def default_concurrency() -> int:
    """Return the number of concurrent sandbox runs."""
    return max(2, os.cpu_count() or 1)


class SolutionResult(Record):
    """Result of one reference solution; `truth` is null where the data has none."""

    id: str
    truth: GroundTruth | None
    why: str = ""


async def run_solutions(
    tasks: Iterable[EvalTask],
    sandbox_factory: TaskSandboxFactory,
    on_result: Callable[[SolutionResult], None],
) -> tuple[SolutionResult, ...]:
    """Run the hidden tests on each solution; return the results in the order of completion.

    Raises SandboxError: the sandbox cannot run anything.
    """
    results: list[SolutionResult] = []

    async def check(task: EvalTask) -> None:
        result = SolutionResult(id=task.id, truth=None, why="the data has no solution")
        if task.solution:
            found = await run_hidden_tests(task, task.solution, sandbox_factory)
            result = SolutionResult(id=task.id, truth=found.truth, why=found.reason)
        results.append(result)
        on_result(result)

    await for_each_task(tasks, check)
    return tuple(results)
