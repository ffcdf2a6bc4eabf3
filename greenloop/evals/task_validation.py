"""What is wrong with a task's hidden tests, seen from their text: told before anything is paid."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable
from functools import partial

from greenloop.agent import side_by_side
from greenloop.errors import GreenloopError, InputError, PackagesError
from greenloop.evals.hidden_tests import Provisions, why_not
from greenloop.evals.task import Task
from greenloop.records import Failure, TestRun
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.testsuite.module_names import why_no_module_name
from greenloop.testsuite.parser import test_functions
from greenloop.testsuite.quality_gates import BROKEN


def check_task(task: Task) -> None:
    """Raises InputError where the hidden tests cannot say anything of a module."""
    what = f"{task.where} (id {task.id})"
    if why := why_no_module_name(task.module):
        raise InputError(f"{what}: '{task.module}' cannot be the module's name: {why}")
    for item in task.tests:
        _check_python(item.code, f"{what}: {_called(task, item.name)}")
    if not any(test_functions(item.code) for item in task.tests):
        raise InputError(f"{what}: the tests hold no test: functions or methods named test…")
    if not any(_imports(item.code, task.module) for item in task.tests):
        raise InputError(f"{what}: the tests never import the module `{task.module}`")


def _called(task: Task, name: str) -> str:
    return "the tests" if len(task.tests) == 1 else f"the tests ({name})"


def _check_python(code: str, what: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "tests", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        raise InputError(f"{what} are no Python: {line}{error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{what} are no Python: {error or 'nested too deeply'}") from None


def _imports(code: str, module: str) -> bool:
    for node in ast.walk(ast.parse(code)):
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        if module in names:
            return True
    return False


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
