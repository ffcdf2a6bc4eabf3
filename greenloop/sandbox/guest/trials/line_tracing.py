"""Which lines of one file each test reaches, and which functions ran while tests were collected."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_TOOL_NAME = "greenloop"


@contextmanager
def record_calls(path: str, called: set[tuple[str, int]]) -> Iterator[None]:
    """Adds name and first line of each function of this file that is called meanwhile."""

    def hear(frame: types.FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if code.co_filename == path:
            called.add((code.co_name, code.co_firstlineno))

    sys.settrace(hear)
    threading.settrace(hear)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)


def trace_lines(path: str, function: Callable[[], None]) -> set[int]:
    """The lines of this file that run while `work` does, in whatever thread."""
    if sys.version_info >= (3, 12):
        return _trace_with_monitoring(path, function)
    return _trace_with_settrace(path, function)


def _trace_with_settrace(path: str, function: Callable[[], None]) -> set[int]:
    left: dict[types.CodeType, set[int]] = {}  # lines not seen yet: where none is left, no tracing
    tracers: dict[types.CodeType, Any] = {}

    def call(frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != path:
            return None
        if code not in left:
            left[code] = _code_lines(code)
            tracers[code] = _create_tracer(left[code])
        return tracers[code] if left[code] else None

    sys.settrace(call)
    threading.settrace(call)
    try:
        function()
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return {line for code, waiting in left.items() for line in _code_lines(code) - waiting}


def _code_lines(code: types.CodeType) -> set[int]:
    return {number for _, _, number in code.co_lines() if number}


def _create_tracer(unseen_lines: set[int]) -> Any:
    """Takes each line that is reached from `waiting`. It runs for every line: it does no more."""
    take = unseen_lines.discard

    def reached(frame: types.FrameType, event: str, argument: Any) -> Any:
        take(frame.f_lineno)
        if not unseen_lines:
            frame.f_trace_lines = False
        return reached

    return reached


def _trace_with_monitoring(path: str, function: Callable[[], None]) -> set[int]:
    """From Python 3.12 on: each line costs once, not each time."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    lines: set[int] = set()

    def line(code: types.CodeType, number: int) -> Any:
        if code.co_filename == path:
            lines.add(number)
        return monitoring.DISABLE

    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    monitoring.use_tool_id(tool, _TOOL_NAME)
    try:
        monitoring.register_callback(tool, monitoring.events.LINE, line)
        monitoring.set_events(tool, monitoring.events.LINE)
        monitoring.restart_events()
        function()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return lines
