"""Check of data and reader: each task's reference solution against its hidden tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from greenloop.evals.hidden_tests import TaskSandboxFactory, for_each_task, run_hidden_tests
from greenloop.evals.task import EvalTask
from greenloop.records import Record
from greenloop.records.evaluation import GroundTruth


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

    Raises:
        SandboxError: the sandbox cannot run anything.
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
