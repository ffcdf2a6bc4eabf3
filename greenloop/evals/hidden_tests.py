"""What the hidden tests say of a final code."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from greenloop.dependencies import Provider
from greenloop.errors import PackagesError
from greenloop.evals.task import Task
from greenloop.grading.unreported_tests import unreported
from greenloop.records import Failure, TestRun
from greenloop.records.evaluation import Truth
from greenloop.records.pytest_run import Form
from greenloop.sandbox import Sandbox
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import function_name, test_functions

# Where the data's own solution is run in hidden tests, see readers/evalplus_harness.py.txt.
_OWN_SOLUTION = "_answers_of_the_task"
_MOST = 300


@dataclass(frozen=True)
class Found:
    """The truth of one code, and `why` where it is not `passed`."""

    truth: Truth
    why: str = ""
    form: Form | None = None
    passed: int = 0
    failed: int = 0


async def truth_of(
    task: Task, code: str, provisions: Provisions, agreed: tuple[str, ...] = ()
) -> Found:
    """Runs the hidden tests on the code, in a run of their own.

    Where tests and code can be kept in two processes and pass so, the code cannot have forged it;
    else they share one, and `form` says so. `agreed` are packages that the code may use.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    if not code.strip():
        return Found("failed", "there is no code")
    try:
        box = await provisions.fitted(task, code, agreed)
    except PackagesError as error:
        return Found("unknown", why_not(error))
    files = [item.as_file() for item in task.tests]
    work = partial(box.run_tests, code, files, module=task.module, form="best")
    run = await in_sandbox(box, work)
    return judged(files, run)


def judged(files: list[TestFile], run: TestRun) -> Found:
    """The truth, from one run of the hidden tests."""
    skippable = _skippable(files)
    at_fault = next((item for item in run.failures if _at_fault(files, item)), None)
    why = _of_its_own(at_fault) if at_fault else _why_not_passed(files, run, skippable)
    truth: Truth = "unknown" if at_fault else "failed" if why else "passed"
    failed = sum(_function(item) not in skippable for item in run.failing)
    return Found(truth, why[:_MOST], run.form, run.passed_count, failed)


def _why_not_passed(files: list[TestFile], run: TestRun, skippable: set[str]) -> str:
    """The first reason, '' where all hidden tests passed that do not say themselves to be skipped."""
    for failure in run.failures:
        name = failure.test.partition("::")[2] or failure.test
        return f"{name}: {failure.exception}: {failure.message.strip().partition(chr(10))[0]}"
    if run.ending != "finished":
        return f"{run.ending}: {run.detail}"
    if gone := unreported(files, run):
        return f"{gone[0]} was never reported"
    if not run.passed_count:
        return "no hidden test passed"
    for test in run.tests:
        if test.outcome != "passed" and _function(test.id) not in skippable:
            return f"{test.id} ended as {test.outcome}"
    return "" if run.exit_status == 0 else f"exit status {run.exit_status}"


def _of_its_own(failure: Failure) -> str:
    return f"the task's own solution: {failure.exception}: {failure.message}"


def _skippable(files: list[TestFile]) -> set[str]:
    """The tests that say themselves that they may be skipped: then the code did not do it."""
    return {f"{f.name}::{t.name}" for f in files for t in test_functions(f.code) if t.skips}


def _function(test: str) -> str:
    return f"{test.partition('::')[0]}::{function_name(test)}"


def _at_fault(files: list[TestFile], failure: Failure) -> bool:
    """Whether it was the data's own solution that broke or took too long, and not the code."""
    names = {item.name for item in files}
    return any(f.function == _OWN_SOLUTION and f.file in names for f in failure.frames)


# EvalPlus gives code 4 GB, and 60 s for all inputs of a task; here the same run has the data's own
# solution answer them first, which takes that long for the slowest task.
_EVALPLUS: dict[str, Any] = {"timeout_s": 120.0, "memory_mb": 4096}


def for_hidden_tests(settings: Settings, format: str) -> Settings:
    """The settings of the sandbox that hidden tests run in; what was asked for stays as it is."""
    if format != "evalplus":
        return settings
    supposed = {k: v for k, v in _EVALPLUS.items() if k not in settings.model_fields_set}
    return settings.model_copy(update=supposed)


class Provisions:
    """Packages are installed once at a time, by what the tests, the code and its contract name."""

    def __init__(self, box: Sandbox, provider: Provider) -> None:
        self.box, self._provider = box, provider
        self._installing = asyncio.Lock()

    async def fitted(self, task: Task, code: str = "", agreed: Collection[str] = ()) -> Sandbox:
        """Raises PackagesError where a package that is allowed cannot be had."""
        own = {task.module, *(PurePath(item.name).stem for item in task.tests)}
        sources = [code, *(item.code for item in task.tests)]
        names = self._provider.imported(sources, own) | set(agreed)
        if not names:
            return self.box
        async with self._installing:
            installed = await self._provider.find(names) or await self._provider.install(names)
        return self.box.with_packages(installed)


def why_not(error: PackagesError) -> str:
    """In one line."""
    return str(error).partition("\n")[0]
