"""Tasks of an evaluation, and their checks before the first model call."""

import ast
from collections.abc import Callable, Iterable
from functools import partial

from greenloop.dependencies.names import iter_imported_modules
from greenloop.errors import InputError, PackagesError
from greenloop.evals.hidden_tests import TaskSandboxFactory
from greenloop.evals.task import EvalTask
from greenloop.files import check_python
from greenloop.records import Failure, TestRun
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.quality_gates import BROKEN_TEST_ERRORS
from greenloop.threads import complete_in_thread


def check_task(task: EvalTask) -> None:
    """Raise InputError where the hidden tests cannot test the task's module."""
    what = f"{task.where} (id {task.id})"
    if why := explain_invalid_module_name(task.module):
        raise InputError(f"{what}: '{task.module}' cannot be the module's name: {why}")
    for item in task.tests:
        name = "" if len(task.tests) == 1 else f" ({item.name})"
        check_python(item.code, f"{what}: the tests{name} are")
    if not any(parse_test_functions(item.code) for item in task.tests):
        raise InputError(f"{what}: the tests contain no function or method named test…")
    if not any(task.module in iter_imported_modules(ast.parse(i.code)) for i in task.tests):
        raise InputError(f"{what}: the tests never import the module `{task.module}`")


# Errors of a test file that a placeholder module cannot have caused.
_TEST_FILE_ERRORS = BROKEN_TEST_ERRORS | {"Timeout", "MemoryError"}

# Any imported name is a class: it can be called, raised, subclassed and compared.
_PLACEHOLDER_MODULE = """class _Kind(type):
    def __getattr__(cls, name):
        raise NotImplementedError(name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(name)

    return _Kind(name, (Exception,), {"__init__": __init__})
"""


async def check_collectable(
    task: EvalTask, sandbox_factory: TaskSandboxFactory, is_stopping: Callable[[], bool]
) -> None:
    """Collect the hidden tests of a task.

    Raises:
        InputError: they cannot be collected, whatever the code is.
        SandboxError: the sandbox cannot run anything.
    """
    if is_stopping() or any("import *" in item.code for item in task.tests):
        return  # the placeholder module cannot list its names
    try:
        box = await sandbox_factory.create_sandbox(task)
    except PackagesError as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"{task.where} (id {task.id}): the tests: {why}") from None
    files = [item.to_test_file() for item in task.tests]
    run = await complete_in_thread(
        partial(box.run_tests, _PLACEHOLDER_MODULE, files, module=task.module), box.interrupt_runs
    )
    if failure := find_test_file_error(run, task.module):
        message = failure.message.strip().partition("\n")[0]
        is_absent = failure.exception == "ModuleNotFoundError"
        hint = " (--allow-package NAME allows a package)" if is_absent else ""
        raise InputError(
            f"{task.where} (id {task.id}): the tests cannot be collected, whatever the code is: "
            f"{failure.exception}: {message}{hint}"
        )


def find_test_file_error(run: TestRun, module: str) -> Failure | None:
    """Return the failure that kept a test file from being collected, if its cause is in the file."""
    for failure in run.failures:
        is_in_file = failure.phase == "collect" and failure.exception in _TEST_FILE_ERRORS
        about_module = failure.exception == "ImportError" and f"'{module}'" in failure.message
        if is_in_file and not about_module:
            return failure
    return None


def collect_tasks(tasks: Iterable[EvalTask]) -> dict[str, EvalTask]:
    """Return the tasks by id.

    Raises InputError: a task cannot be evaluated, or two have one id.
    """
    found: dict[str, EvalTask] = {}
    for task in tasks:
        check_task(task)
        if task.id in found:
            raise InputError(f"{task.where}: a second task has the id {task.id}")
        found[task.id] = task
    return found
