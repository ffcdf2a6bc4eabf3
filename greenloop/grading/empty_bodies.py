"""Extreme mutation: the tests on the code with every function body raising.

Niedermayr, Juergens, Wagner, "Will my tests tell me if I break this code?" (2016); Descartes.
"""

from __future__ import annotations

import ast

from greenloop.grading.context import GradingContext
from greenloop.records import EmptyBodies
from greenloop.testsuite import TestFile
from greenloop.testsuite.stubs import with_empty_bodies

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CANARY_SOURCE = """
import {module}


def test_more():
    assert {module} is None
"""


def measure(context: GradingContext) -> EmptyBodies | None:
    """Run the tests on the code without function bodies: they must fail.

    Code with which they pass changes the tests while it is imported. A module without functions (a
    table, an enumeration) may honestly pass, so a canary runs along: where it fails, the result is
    None, as it is for code that cannot be parsed.
    """
    try:
        source = with_empty_bodies(context.code)
        nodes = ast.walk(ast.parse(context.code))
        has_functions = any(isinstance(node, _FUNCTIONS) for node in nodes)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    canary = TestFile(_choose_free_name(context), _CANARY_SOURCE.format(module=context.module))
    more = () if has_functions else (canary,)
    run = context.run_tests(source, [*context.tests, *more])
    failed_canaries = {name for name in run.failing_tests if name.startswith(canary.name)}
    failed = len(run.failing_tests - failed_canaries)
    passed = sum(
        test.outcome == "passed" and not test.id.startswith(canary.name) for test in run.tests
    )
    if run.ending == "timeout":
        late = f"out of time after {len(run.tests)} tests"
        return EmptyBodies(reached=False, passed=passed, failed=failed, cut_short=late)
    green = run.ending == "finished" and passed > 0 and not failed
    if green and failed_canaries and not has_functions:
        return None
    return EmptyBodies(reached=not green, passed=passed, failed=failed)


def _choose_free_name(context: GradingContext) -> str:
    taken = {item.name for item in context.tests}
    names = (f"test_{context.module}_{number}.py" for number in range(2, len(taken) + 3))
    return next(name for name in names if name not in taken)
