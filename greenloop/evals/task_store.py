"""Tasks of an evaluation on disk; only ids and offsets are in memory."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from greenloop.batch.entries import Entry
from greenloop.dependencies.names import iter_imported_modules
from greenloop.errors import InputError, PackagesError
from greenloop.evals.hidden_tests import TaskSandboxFactory, first_error_line, for_each_task
from greenloop.evals.task import EvalTask
from greenloop.files import check_python, writing
from greenloop.records import Failure, TestRun
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.syntax.module_names import explain_invalid_module_name
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.quality_gates import BROKEN_TEST_ERRORS


def check_task(task: EvalTask) -> None:
    """Raises InputError where the hidden tests cannot test the task's module."""
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
    tasks: Iterable[EvalTask],
    sandbox_factory: TaskSandboxFactory,
    is_known: Callable[[EvalTask], bool],
    mark_collected: Callable[[EvalTask], None],
) -> None:
    """Collect the tests of all tasks that are not `is_known`; call `mark_collected` for each.

    Raises:
        InputError: tests of a task cannot be collected, whatever the code is.
        SandboxError: the sandbox cannot run anything.
    """

    async def check(task: EvalTask) -> None:
        if not is_known(task):
            await _check_task_collectable(task, sandbox_factory)
            mark_collected(task)

    await for_each_task(tasks, check)


async def _check_task_collectable(task: EvalTask, sandbox_factory: TaskSandboxFactory) -> None:
    if any("import *" in item.code for item in task.tests):
        return  # the placeholder has no list of its names
    try:
        box = await sandbox_factory.create_sandbox(task)
    except PackagesError as error:
        raise InputError(
            f"{task.where} (id {task.id}): the tests: {first_error_line(error)}"
        ) from None
    files = [item.to_test_file() for item in task.tests]
    run = await run_in_sandbox_thread(
        box, partial(box.run_tests, _PLACEHOLDER_MODULE, files, module=task.module)
    )
    if failure := find_test_file_error(run, task.module):
        message = failure.message.strip().partition("\n")[0]
        raise InputError(
            f"{task.where} (id {task.id}): the tests cannot be collected, whatever the code is: "
            f"{failure.exception}: {message}{_package_hint(failure)}"
        )


def find_test_file_error(run: TestRun, module: str) -> Failure | None:
    """Return the failure that kept a test file from being collected, if its cause is in the file."""
    for failure in run.failures:
        is_in_file = failure.phase == "collect" and failure.exception in _TEST_FILE_ERRORS
        about_module = failure.exception == "ImportError" and f"'{module}'" in failure.message
        if is_in_file and not about_module:
            return failure
    return None


def _package_hint(failure: Failure) -> str:
    missing = failure.exception == "ModuleNotFoundError"
    return " (--allow-package NAME allows a package)" if missing else ""


class TaskStore:
    """`tasks.jsonl` in an evaluation's folder, read by id."""

    def __init__(self, path: Path, tasks: Iterable[EvalTask]) -> None:
        """Write the tasks.

        Raises:
            InputError: a task cannot be evaluated, or two have one id.
            OutputError: the file cannot be written.
        """
        self._path = path
        self._locations: dict[str, tuple[int, str]] = {}
        self.entries: tuple[Entry, ...] = ()
        temporary = path.with_suffix(".new")
        with writing(path):
            with temporary.open("wb") as file:
                self.entries = tuple(self._write_task(task, file.tell(), file) for task in tasks)
            os.replace(temporary, path)

    def _write_task(self, task: EvalTask, offset: int, file: IO[bytes]) -> Entry:
        check_task(task)
        if task.id in self._locations:
            raise InputError(f"{task.where}: a second task has the id {task.id}")
        self._locations[task.id] = offset, task.tests_sha256
        file.write(task.model_dump_json().encode() + b"\n")
        return Entry(id=task.id, text=task.spec, source=task.where, module=task.module)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[EvalTask]:
        return map(self.read_task, self._locations)

    def read_task(self, id: str) -> EvalTask:
        with self._path.open("rb") as file:
            file.seek(self._locations[id][0])
            return EvalTask.model_validate_json(file.readline())

    def tests_sha256(self, id: str) -> str:
        """Return the digest of a task's hidden tests."""
        return self._locations[id][1]
