"""Lines that a call reaches: the same by `sys.monitoring` (Python 3.12 on) as by a trace function."""

import types
from collections.abc import Callable
from typing import Any

import pytest

from greenloop.sandbox.guest.trials import line_tracing

CODE = """def f(n):
    for i in range(n):
        if i % 2:
            yield i
    yield 9
def g(n):
    return list(f(n))
"""
Trace = Callable[[str, Callable[[], Any]], set[int]]


@pytest.mark.parametrize("trace", [line_tracing.trace_lines, line_tracing._trace_each_line])
@pytest.mark.parametrize(("n", "lines"), [(0, {2, 5, 7}), (1, {2, 3, 5, 7}), (2, {2, 3, 4, 5, 7})])
def test_lines_of_one_file_are_found_in_each_call(trace: Trace, n: int, lines: set[int]) -> None:
    module = types.ModuleType("traced")
    exec(compile(CODE, "/work/traced.py", "exec"), module.__dict__)
    for _ in range(2):
        assert trace("/work/traced.py", lambda: module.g(n)) == lines
    assert trace("/work/other.py", lambda: module.g(n)) == set()


@pytest.mark.parametrize("tool", [line_tracing._find_free_tool, lambda: 0])
def test_calls_are_recorded_until_that_is_ended(
    monkeypatch: pytest.MonkeyPatch, tool: Callable[[], int]
) -> None:
    monkeypatch.setattr(line_tracing, "_find_free_tool", tool)
    module = types.ModuleType("traced")
    exec(compile(CODE, "/work/traced.py", "exec"), module.__dict__)
    called: set[tuple[str, int]] = set()
    stop = line_tracing.record_calls("/work/traced.py", called)
    for _ in range(2):
        next(module.f(3))
    stop()
    module.g(1)
    assert called == {("f", 1)}
