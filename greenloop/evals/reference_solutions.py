"""Whether the data and its reader are right: each task's own solution against its hidden tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from greenloop.agent import side_by_side
from greenloop.evals.hidden_tests import Found, Provisions, truth_of
from greenloop.evals.task import Task
from greenloop.records import Record
from greenloop.records.evaluation import Truth


class Tried(Record):
    """One task's solution; `truth` is null where the data has none."""

    id: str
    truth: Truth | None
    why: str = ""


async def try_solutions(
    tasks: Iterable[Task], provisions: Provisions, at_once: int, tell: Callable[[Tried], None]
) -> tuple[Tried, ...]:
    """What the hidden tests say of each, in the order of their ends.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    waiting, tried = iter(tasks), list[Tried]()

    async def work() -> None:
        for task in waiting:
            found = await truth_of(task, task.solution, provisions) if task.solution else None
            tried.append(_tried(task, found))
            tell(tried[-1])

    await side_by_side(*(work() for _ in range(at_once)))
    return tuple(tried)


def _tried(task: Task, found: Found | None) -> Tried:
    if found is None:
        return Tried(id=task.id, truth=None, why="the data has no solution of its own")
    return Tried(id=task.id, truth=found.truth, why=found.why)
