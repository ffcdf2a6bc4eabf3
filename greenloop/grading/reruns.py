"""Evidence that comes from running the same tests again under other conditions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from greenloop.grading.coverage.measurement import NotingTests, noting_tests
from greenloop.records import Coverage, Expectation, Flakiness, HollowRun, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.stubs import hollow

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CONTROL = """
import {module}


def test_more():
    assert {module} is None
"""
_ORDER_SEED, _HASH_SEED = 20261, 4711  # any fixed values: a repeat must give the same verdict


def hollow_run(box: Sandbox, code: str, tests: Sequence[TestFile], module: str) -> HollowRun | None:
    """The tests on the code with every function body raising: they must be red.

    Code that makes them green there does something to the tests while it is imported. Where it has
    no function at all (a table, an enumeration), green is no wonder: a test that must fail runs
    along, and where that does fail, nothing is told. None there, and where the code does not parse.
    """
    try:
        source = hollow(code)
        has_functions = any(isinstance(node, _FUNCTIONS) for node in ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    control = TestFile(_free_name(tests, module), _CONTROL.format(module=module))
    more = () if has_functions else (control,)
    run = box.run_tests(source, [*tests, *more], module=module, brief=True)
    mine = {name for name in run.failing if name.startswith(control.name)}
    failed = len(run.failing - mine)
    passed = sum(
        test.outcome == "passed" and not test.id.startswith(control.name) for test in run.tests
    )
    if run.ending == "timeout":
        return HollowRun(reached=False, passed=passed, failed=failed, cut_short=_late(run))
    green = run.ending == "finished" and passed > 0 and not failed
    if green and mine and not has_functions:
        return None
    return HollowRun(reached=not green, passed=passed, failed=failed)


def _free_name(tests: Sequence[TestFile], module: str) -> str:
    taken = {item.name for item in tests}
    names = (f"test_{module}_{number}.py" for number in range(2, len(taken) + 3))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True)
class Again:
    """What one more run tells. `coverage` is None where that has to be measured by itself."""

    flakiness: Flakiness
    coverage: Coverage | str | None = None


def once_more(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    before: TestRun,
    expected: Expectation | None,
    thresholds: Thresholds,
) -> Again:
    """The tests once more, shuffled and with another hash seed: each must end as before.

    First on code that notes what it runs: where each does, that one run tells both. Else nobody
    knows which of the two it was, and they are asked one by one.
    """
    made = noting_tests(code, tests, module)
    if not isinstance(made, str):
        run = _shuffled(box, made.noted.source, made.tests, module)
        if _as_green(run, made, before):
            steady = Flakiness(reached=True, order_seed=_ORDER_SEED, hash_seed=_HASH_SEED)
            return Again(steady, made.counted(run, before, thresholds))
    return Again(flakiness(box, code, tests, module, before=before, expected=expected))


def _as_green(run: TestRun, made: NotingTests, before: TestRun) -> bool:
    told = {item.test for item in run.failures}
    own = {name for name in told if not name.startswith(made.tests[-1].name)}
    return before.passed and run.ending == "finished" and not own and made.ended_as(run, before)


def flakiness(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    before: TestRun,
    expected: Expectation | None,
) -> Flakiness:
    """The tests once more, shuffled and with another hash seed: each must end as before."""
    run = _shuffled(box, code, tests, module, expected)
    cut_short = _late(run) if run.ending == "timeout" else ""
    first, again = before.outcomes, run.outcomes
    differing = sorted(
        name for name in first.keys() | again.keys() if first.get(name) != again.get(name)
    )
    return Flakiness(
        reached=not differing and run.passed == before.passed,
        order_seed=_ORDER_SEED,
        hash_seed=_HASH_SEED,
        differing=tuple(differing) if not cut_short else (),
        cut_short=cut_short,
    )


def _shuffled(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    expected: Expectation | None = None,
) -> TestRun:
    shuffled = partial(box.run_tests, order_seed=_ORDER_SEED, hash_seed=_HASH_SEED, brief=True)
    return shuffled(code, tests, module=module, expected=expected)


def _late(run: TestRun) -> str:
    return f"out of time after {len(run.tests)} tests"
