"""What the hidden tests say of a final code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from greenloop.errors import PackagesError
from greenloop.evaluating.provisions import Provisions, why_not
from greenloop.evaluating.task import Task
from greenloop.grading.presence import unreported
from greenloop.records import Failure, TestRun
from greenloop.records.evaluation import Truth
from greenloop.records.test_run import Form
from greenloop.sandbox.awaiting import in_sandbox
from greenloop.suite import TestFile
from greenloop.suite.reading import function_name, test_functions

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
