"""Tracing of one file: lines that tests run, functions called before; detection of processes."""

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

_STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system")


def record_calls(path: str, called: set[tuple[str, int]]) -> None:
    """Add name and first line of each function of the file that is called until `stop_tracing`."""

    def trace(frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename == path:
            called.add((code.co_name, code.co_firstlineno))
        return None if code.co_filename.endswith(".py") else _ignore

    sys.settrace(trace)
    threading.settrace(trace)


def stop_tracing() -> None:
    """End the tracing of this thread, and of threads that it starts."""
    sys.settrace(None)
    threading.settrace(None)


def trace_lines(path: str, function: Callable[[], None]) -> set[int]:
    """Return the lines of the file that run during a function call, in all threads."""
    unseen: dict[types.CodeType, set[int]] = {}  # lines; no more tracing if none is left
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
        stop_tracing()
    return {line for code, lines in unseen.items() for line in _code_lines(code) - lines}


def _ignore(frame: types.FrameType, event: str, argument: Any) -> Any:
    """Trace nothing. Modules that Cython compiled with tracing call the result of a tracer."""
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
    """Return a flag that is set once this process starts another, which is not traced."""
    flag = {"starts_processes": False}

    def notice(event: str, _: tuple[Any, ...]) -> None:
        if event in _STARTS:
            flag["starts_processes"] = True

    sys.addaudithook(notice)
    return flag
