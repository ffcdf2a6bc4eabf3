"""Hints for a repair in the failures of a run: expected values, exceptions, crashes."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.records import Failure, TestRun
from greenloop.syntax.parse import parse_or_empty, read_literal

_NOT_RAISED = re.compile(r"DID NOT RAISE (?:any of )?<?(?:class )?'?([\w.]+)")
_MAX_VALUES, _MAX_VALUE_CHARS = 4, 12
_MISSING_MODULE = re.compile(r"No module named '([^']+)'")


@dataclass(frozen=True)
class Hints:
    """Hints of all failures of a run."""

    expected_values: tuple[str, ...] = ()  # short literals (as source) that tests expected
    expected_exceptions: tuple[str, ...] = ()  # those that were not raised
    # A line of the module, and the exception raised there.
    crashes: tuple[tuple[int, str], ...] = ()
    has_timeout: bool = False  # whether a test did not end in time


def extract_hints(run: TestRun, module: str) -> Hints:
    """Collect the hints of all failures of a run on `module`."""
    failures = run.failures
    values = dict.fromkeys(value for item in failures for value in _find_expected_literals(item))
    raising = dict.fromkeys(name for item in failures for name in _NOT_RAISED.findall(item.message))
    names = tuple(item.rpartition(".")[2] for item in raising)
    crashes = dict.fromkeys(
        (line, item.exception.rpartition(".")[2])
        for item in failures
        if (line := _find_module_line(item, module))
    )
    has_timeout = run.ending in ("timeout", "cpu")
    return Hints(tuple(values)[:_MAX_VALUES], names, tuple(crashes), has_timeout)


def _find_expected_literals(failure: Failure) -> list[str]:
    assertion = failure.assertion
    sides = list(_find_compared_expressions(failure))
    if assertion is not None and assertion.operator in ("==", "is"):
        sides += [assertion.right, assertion.left]
    return [side for side in sides if len(side) <= _MAX_VALUE_CHARS and read_literal(side)]


def _find_compared_expressions(failure: Failure) -> Iterator[str]:
    """Yield the right sides of the assertions in a traceback: `0.0` in `assert f() == 0.0`."""
    for frame in failure.frames:
        _, word, rest = frame.text.partition("assert ")
        for node in parse_or_empty(word + rest).body:
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                yield ast.unparse(node.test.comparators[-1])


def _find_module_line(failure: Failure, module: str) -> int:
    """Return the innermost line of the module in a failure's traceback; 0 for none."""
    path = f"/{module.replace('.', '/')}"
    own = (f"{path}.py", f"{path}/__init__.py")
    lines = [item.line for item in failure.frames if f"/{item.file}".endswith(own)]
    return lines[-1] if lines else 0


def find_missing_import(run: TestRun, code: str) -> str:
    """Return the import error, if all failures are missing modules that the code does not name.

    Otherwise return ''. No edit of the code can provide such a module.
    """
    missing = [
        found[0]
        for item in run.failures
        if item.exception == "ModuleNotFoundError"
        and (found := _MISSING_MODULE.search(item.message))
        and found[1].rpartition(".")[2] not in code
    ]
    return missing[0] if missing and len(missing) == len(run.failures) else ""
