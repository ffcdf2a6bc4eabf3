"""Whether the data and its reader are right: each task's own solution against its hidden tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from greenloop.evals.hidden_tests import HiddenTestsOutcome, TaskSandboxFactory, run_hidden_tests
from greenloop.evals.task import EvalTask
from greenloop.records import Record
from greenloop.records.evaluation import GroundTruth
from greenloop.workflow.make.strategy import run_concurrently


class SolutionResult(Record):
    """One task's solution; `truth` is null where the data has none."""

    id: str
    truth: GroundTruth | None
    why: str = ""


async def run_solutions(
    tasks: Iterable[EvalTask],
    sandbox_factory: TaskSandboxFactory,
    concurrency: int,
    on_result: Callable[[SolutionResult], None],
) -> tuple[SolutionResult, ...]:
    """What the hidden tests say of each, in the order of their ends.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    waiting, tried = iter(tasks), list[SolutionResult]()

    async def work() -> None:
        for task in waiting:
            found = (
                await run_hidden_tests(task, task.solution, sandbox_factory)
                if task.solution
                else None
            )
            tried.append(_build_solution_result(task, found))
            on_result(tried[-1])

    await run_concurrently(*(work() for _ in range(concurrency)))
    return tuple(tried)


def _build_solution_result(task: EvalTask, found: HiddenTestsOutcome | None) -> SolutionResult:
    if found is None:
        return SolutionResult(id=task.id, truth=None, why="the data has no solution of its own")
    return SolutionResult(id=task.id, truth=found.truth, why=found.reason)
