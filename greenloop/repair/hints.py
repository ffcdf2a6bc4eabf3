"""What the failures of a red run give away about the missing piece: values, exceptions, places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.records import Failure, TestRun

_NOT_RAISED = re.compile(r"DID NOT RAISE (?:any of )?<?(?:class )?'?([\w.]+)")
_MOST_VALUES, _LONGEST = 4, 12


@dataclass(frozen=True)
class Hints:
    """`values`: source of short literals that tests expected; `raising`: names of exceptions that
    did not come; `crashes`: line of the module and name of the exception that came there; `hangs`:
    whether a test did not come to its end.
    """

    values: tuple[str, ...] = ()
    raising: tuple[str, ...] = ()
    crashes: tuple[tuple[int, str], ...] = ()
    hangs: bool = False


def hints(run: TestRun, module: str) -> Hints:
    """Of all failures of a run on `module`."""
    values: dict[str, None] = {}
    raising: dict[str, None] = {}
    crashes: dict[tuple[int, str], None] = {}
    for failure in run.failures:
        values.update(dict.fromkeys(_expected(failure)))
        raising.update(dict.fromkeys(_NOT_RAISED.findall(failure.message)))
        line = _line_in(failure, module)
        if line:
            crashes[line, failure.exception.rpartition(".")[2]] = None
    names = tuple(item.rpartition(".")[2] for item in raising)
    hangs = run.ending in ("timeout", "cpu")
    return Hints(tuple(values)[:_MOST_VALUES], names, tuple(crashes), hangs)


def _expected(failure: Failure) -> list[str]:
    compared = failure.assertion
    sides = list(_in_text(failure))
    if compared is not None and compared.operator in ("==", "is"):
        sides += [compared.right, compared.left]
    found = []
    for side in sides:
        try:
            ast.literal_eval(side)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if len(side) <= _LONGEST:
            found.append(side)
    return found


def _in_text(failure: Failure) -> Iterator[str]:
    """What the lines of the traceback compare with: `assert f() == 0.0` where f() raised."""
    for frame in failure.frames:
        try:
            _, word, rest = frame.text.partition("assert ")
            body = ast.parse(word + rest).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        for node in body:
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                yield ast.unparse(node.test.comparators[-1])


def _line_in(failure: Failure, module: str) -> int:
    """The innermost line of the module in a failure's traceback; 0 for none."""
    lines = [item.line for item in failure.frames if _is_of(item.file, module)]
    return lines[-1] if lines else 0


def _is_of(file: str, module: str) -> bool:
    return file.rpartition("/")[2] == f"{module}.py"
