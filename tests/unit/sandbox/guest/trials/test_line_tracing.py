"""Lines of one file that a call reaches, and functions that are called."""

import types

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


@pytest.mark.parametrize(("n", "lines"), [(0, {2, 5, 7}), (1, {2, 3, 5, 7}), (2, {2, 3, 4, 5, 7})])
def test_lines_of_one_file_are_found_in_each_call(n: int, lines: set[int]) -> None:
    module = types.ModuleType("traced")
    exec(compile(CODE, "/work/traced.py", "exec"), module.__dict__)
    for _ in range(2):
        assert line_tracing.trace_lines("/work/traced.py", lambda: module.g(n)) == lines
    assert line_tracing.trace_lines("/work/other.py", lambda: module.g(n)) == set()


def test_calls_are_recorded_until_that_is_ended() -> None:
    module = types.ModuleType("traced")
    exec(compile(CODE, "/work/traced.py", "exec"), module.__dict__)
    called: set[tuple[str, int]] = set()
    line_tracing.record_calls("/work/traced.py", called)
    for _ in range(2):
        next(module.f(3))
    line_tracing.stop_tracing()
    module.g(1)
    assert called == {("f", 1)}
