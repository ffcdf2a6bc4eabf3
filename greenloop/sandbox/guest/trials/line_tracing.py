"""Tracing of one file: lines that a test reaches, functions called before the tests, and what is not traced."""

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

_STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system")


def record_calls(path: str, called: set[tuple[str, int]]) -> Callable[[], None]:
    """Add name and first line of each function of the file that is called from now on.

    Return the function that ends this.
    """
    if tool := _find_free_tool():
        return _monitor_calls(tool, path, called)

    def trace(frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename == path:
            called.add((code.co_name, code.co_firstlineno))
        return None if code.co_filename.endswith(".py") else _ignore

    sys.settrace(trace)
    threading.settrace(trace)
    return _stop_tracing


def _get_monitoring() -> Any:
    """Return `sys.monitoring`; None before Python 3.12."""
    return getattr(sys, "monitoring", None)


def _find_free_tool() -> int:
    """Return the number of a tool of `sys.monitoring`; 0 where none is free."""
    monitoring = _get_monitoring()
    free = (number for number in range(5, 0, -1) if monitoring and not monitoring.get_tool(number))
    return next(free, 0)


def _monitor_calls(tool: int, path: str, called: set[tuple[str, int]]) -> Callable[[], None]:
    monitoring = _get_monitoring()

    def enter(code: types.CodeType, offset: int) -> Any:
        if code.co_filename == path:
            called.add((code.co_name, code.co_firstlineno))
        return monitoring.DISABLE

    def stop() -> None:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)

    monitoring.use_tool_id(tool, "greenloop")
    monitoring.register_callback(tool, monitoring.events.PY_START, enter)
    monitoring.set_events(tool, monitoring.events.PY_START)
    return stop


def _stop_tracing() -> None:
    """End the tracing of this thread, and of threads that it starts."""
    sys.settrace(None)
    threading.settrace(None)


def trace_lines(path: str, function: Callable[[], None]) -> set[int]:
    """Return the lines of the file that run during a function call, in all threads."""
    tool = _find_free_tool()
    return _monitor_lines(path, function, tool) if tool else _trace_each_line(path, function)


def _monitor_lines(path: str, function: Callable[[], None], tool: int) -> set[int]:
    """Return the lines; each is reported once, so that a loop costs nearly what it costs untraced."""
    monitoring = _get_monitoring()
    codes: set[types.CodeType] = set()
    found: set[int] = set()
    events = monitoring.events

    def enter(code: types.CodeType, offset: int) -> Any:
        if code.co_filename == path:
            codes.add(code)
            monitoring.set_local_events(tool, code, events.LINE)
        return monitoring.DISABLE

    def reach(code: types.CodeType, line: int) -> Any:
        found.add(line)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "greenloop")
    for event, callback in (
        (events.PY_START, enter),
        (events.PY_RESUME, enter),
        (events.LINE, reach),
    ):
        monitoring.register_callback(tool, event, callback)
    monitoring.set_events(tool, events.PY_START | events.PY_RESUME)
    monitoring.restart_events()
    try:
        function()
    finally:
        monitoring.set_events(tool, 0)
        for code in codes:
            monitoring.set_local_events(tool, code, 0)
        monitoring.free_tool_id(tool)
    return found


def _trace_each_line(path: str, function: Callable[[], None]) -> set[int]:
    unseen: dict[types.CodeType, set[int]] = {}  # lines; tracing stops when none is left
    tracers: dict[types.CodeType, Any] = {}

    def call(frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != path:
            return None if code.co_filename.endswith(".py") else _ignore
        if code not in unseen:
            unseen[code] = _code_lines(code)
            tracers[code] = _create_tracer(unseen[code])
        return tracers[code] if unseen[code] else None

    sys.settrace(call)
    threading.settrace(call)
    try:
        function()
    finally:
        _stop_tracing()
    return {line for code, lines in unseen.items() for line in _code_lines(code) - lines}


def _ignore(frame: types.FrameType, event: str, argument: Any) -> Any:
    """Trace nothing. Modules that Cython has compiled with tracing call what a tracer returns."""
    return _ignore


def _code_lines(code: types.CodeType) -> set[int]:
    return {number for _, _, number in code.co_lines() if number}


def _create_tracer(unseen_lines: set[int]) -> Any:
    """Create a trace function that removes reached lines. It runs for each line: keep it minimal."""
    discard = unseen_lines.discard

    def record_line(frame: types.FrameType, event: str, argument: Any) -> Any:
        discard(frame.f_lineno)
        if not unseen_lines:
            frame.f_trace_lines = False
        return record_line

    return record_line


def watch_started_processes() -> dict[str, bool]:
    """Return a flag that is set once this process starts another: what runs there is not traced."""
    flag = {"starts_processes": False}

    def notice(event: str, _: tuple[Any, ...]) -> None:
        if event in _STARTS:
            flag["starts_processes"] = True

    sys.addaudithook(notice)
    return flag
