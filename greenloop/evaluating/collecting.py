"""Whether hidden tests can be collected at all: tried on a module that has every name.

That module does nothing, so its tests fail; what is looked for is a file that breaks of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from greenloop.agent import side_by_side
from greenloop.errors import GreenloopError, InputError, PackagesError
from greenloop.evaluating.provisions import Provisions, why_not
from greenloop.evaluating.task import Task
from greenloop.records import Failure, TestRun
from greenloop.sandbox.awaiting import in_sandbox
from greenloop.suite.gates import BROKEN

# What a test file does not survive that is read in on a module that does nothing.
_OF_ITSELF = BROKEN | {"Timeout", "MemoryError"}

# A class can stand for whatever is imported: a function, an exception, a base class, a value.
_EVERY_NAME = """class _Kind(type):
    def __getattr__(cls, name):
        raise NotImplementedError(name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(name)

    return _Kind(name, (Exception,), {"__init__": __init__})
"""


async def check_collected(
    tasks: Iterable[Task],
    provisions: Provisions,
    at_once: int,
    known: Callable[[Task], bool],
    keep: Callable[[Task], None],
) -> None:
    """Tries the tests of all tasks but those that are `known`; what is in order is kept.

    Raises:
        InputError: tests of a task cannot be collected, whatever the code is.
        SandboxError: the sandbox cannot run anything.
    """
    waiting, wrong = iter(tasks), list[GreenloopError]()

    async def work() -> None:
        for task in waiting:
            if wrong:
                return
            if not known(task):
                try:
                    await _check(task, provisions)
                except GreenloopError as error:
                    wrong.append(error)
                    raise
                keep(task)

    await side_by_side(*(work() for _ in range(at_once)))


async def _check(task: Task, provisions: Provisions) -> None:
    if any("import *" in item.code for item in task.tests):
        return  # a module with every name has no list of them
    try:
        box = await provisions.fitted(task)
    except PackagesError as error:
        raise InputError(f"{task.where} (id {task.id}): the tests: {why_not(error)}") from None
    files = [item.as_file() for item in task.tests]
    run = await in_sandbox(box, partial(box.run_tests, _EVERY_NAME, files, module=task.module))
    if wrong := broken_of_itself(run, task.module):
        told = wrong.message.strip().partition("\n")[0]
        raise InputError(
            f"{task.where} (id {task.id}): the tests cannot be collected, whatever the code is: "
            f"{wrong.exception}: {told}{_advice(wrong)}"
        )


def broken_of_itself(run: TestRun, module: str) -> Failure | None:
    """Why a test file could not be read in on a module that does nothing, if that lies in it."""
    for failure in run.failures:
        about_module = failure.exception == "ImportError" and f"'{module}'" in failure.message
        if failure.phase == "collect" and failure.exception in _OF_ITSELF and not about_module:
            return failure
    return None


def _advice(failure: Failure) -> str:
    missing = failure.exception == "ModuleNotFoundError"
    return " (--allow-package NAME allows a package)" if missing else ""
