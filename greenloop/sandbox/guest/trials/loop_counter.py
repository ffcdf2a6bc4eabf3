"""Counter of the iterations of `while` loops in a module's functions, with a limit.

A mutant that loops for ever exceeds the limit within milliseconds, on a machine of any speed. With
a limit of time alone it would cost a process and all of that time.
"""

from __future__ import annotations

import ast
import builtins
import io
from collections.abc import Iterator
from typing import Any

MIN_LIMIT, LIMIT_FACTOR = 10_000, 100  # iterations in a test; as many as on the original code
_NAME = "__count_iteration__"  # not mangled in a class
_PREFIX, _SUFFIX = f"({_NAME}() or (", "))"


class LoopLimitExceeded(BaseException):
    """Loops have made more iterations than the limit allows."""


class LoopCounter:
    """Counts the iterations of all loops that are marked by `LoopMarks`."""

    def __init__(self) -> None:
        self.reset(None)

    def install(self) -> None:
        """Make marked code in this process call this counter."""
        setattr(builtins, _NAME, self)

    def reset(self, limit: int | None) -> None:
        """Count from 0, up to a limit (None: no limit)."""
        self.count, self._limit = 0, limit

    @property
    def is_exceeded(self) -> bool:
        return self._limit is not None and self.count > self._limit

    def __call__(self) -> None:
        self.count += 1
        if self._limit is not None and self.count > self._limit:
            raise LoopLimitExceeded


class LoopMarks:
    """Marks in a text: the condition of each `while` loop calls the counter first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._conditions = list(_find_conditions(text))

    def render(self, start: int, end: int, splice: dict[str, Any] | None = None) -> str:
        """Return a part of the text with marks and a splice; line numbers stay the same."""
        edits = [(splice["start"], splice["end"], 1, splice["text"])] if splice else []
        for first, last in self._conditions:
            if start <= first and last <= end and not (splice and _cuts(splice, first, last)):
                edits += [(first, first, 0, _PREFIX), (last, last, 2, _SUFFIX)]
        parts: list[str] = []
        for first, last, _, text in sorted(edits):
            parts += [self._text[start:first], text]
            start = last
        return "".join([*parts, self._text[start:end]])


def _cuts(splice: dict[str, Any], first: int, last: int) -> bool:
    """Return whether a splice replaces an end of a span."""
    is_inside = first <= splice["start"] and splice["end"] <= last
    return not is_inside and splice["start"] < last and first < splice["end"]


def _find_conditions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each loop's condition in characters."""
    lines = list(io.StringIO(text, newline=""))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for test in _find_tests(ast.parse(text)):
        yield offset(test.lineno, test.col_offset), offset(test.end_lineno, test.end_col_offset)


def _find_tests(tree: ast.Module) -> set[Any]:
    """Return the conditions of the loops in functions."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inner = (node for function in functions for node in ast.walk(function))
    return {node.test for node in inner if isinstance(node, ast.While)}
