"""What is wrong with a task's hidden tests, seen from their text: told before anything is paid."""

from __future__ import annotations

import ast
import warnings

from greenloop.errors import InputError
from greenloop.evaluating.task import Task
from greenloop.suite.names import why_no_module_name
from greenloop.suite.reading import test_functions


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
