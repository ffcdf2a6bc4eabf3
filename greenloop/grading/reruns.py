"""Evidence that comes from running the same tests again under other conditions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from greenloop.grading.coverage.measurement import InstrumentedTests, instrument_tests
from greenloop.records import Coverage, EmptyBodies, Expectation, Flakiness, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.stubs import with_empty_bodies

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CANARY_SOURCE = """
import {module}


def test_more():
    assert {module} is None
"""
_ORDER_SEED, _HASH_SEED = 20261, 4711  # any fixed values: a repeat must give the same verdict


def measure_empty_bodies(
    sandbox: Sandbox, code: str, tests: Sequence[TestFile], module: str
) -> EmptyBodies | None:
    """The tests on the code with every function body raising: they must be red.

    Code that makes them green there does something to the tests while it is imported. Where it has
    no function at all (a table, an enumeration), green is no wonder: a test that must fail runs
    along, and where that does fail, nothing is told. None there, and where the code does not parse.
    """
    try:
        source = with_empty_bodies(code)
        has_functions = any(isinstance(node, _FUNCTIONS) for node in ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    control = TestFile(_choose_free_name(tests, module), _CANARY_SOURCE.format(module=module))
    more = () if has_functions else (control,)
    run = sandbox.run_tests(source, [*tests, *more], module=module, brief=True)
    mine = {name for name in run.failing_tests if name.startswith(control.name)}
    failed = len(run.failing_tests - mine)
    passed = sum(
        test.outcome == "passed" and not test.id.startswith(control.name) for test in run.tests
    )
    if run.ending == "timeout":
        return EmptyBodies(
            reached=False, passed=passed, failed=failed, cut_short=_describe_timeout(run)
        )
    green = run.ending == "finished" and passed > 0 and not failed
    if green and mine and not has_functions:
        return None
    return EmptyBodies(reached=not green, passed=passed, failed=failed)


def _choose_free_name(tests: Sequence[TestFile], module: str) -> str:
    taken = {item.name for item in tests}
    names = (f"test_{module}_{number}.py" for number in range(2, len(taken) + 3))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True)
class Rerun:
    """What one more run tells. `coverage` is None where that has to be measured by itself."""

    flakiness: Flakiness
    coverage: Coverage | str | None = None


def rerun_tests(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    first_run: TestRun,
    expected: Expectation | None,
    thresholds: Thresholds,
) -> Rerun:
    """The tests once more, shuffled and with another hash seed: each must end as before.

    First on code that notes what it runs: where each does, that one run tells both. Else nobody
    knows which of the two it was, and they are asked one by one.
    """
    made = instrument_tests(code, tests, module)
    if not isinstance(made, str):
        run = _run_shuffled(sandbox, made.module.source, made.tests, module)
        if _is_unchanged(run, made, first_run):
            steady = Flakiness(reached=True, order_seed=_ORDER_SEED, hash_seed=_HASH_SEED)
            return Rerun(steady, made.compute_coverage(run, first_run, thresholds))
    return Rerun(
        measure_flakiness(sandbox, code, tests, module, first_run=first_run, expected=expected)
    )


def _is_unchanged(run: TestRun, instrumented: InstrumentedTests, first_run: TestRun) -> bool:
    told = {item.test for item in run.failures}
    own = {name for name in told if not name.startswith(instrumented.tests[-1].name)}
    return (
        first_run.passed
        and run.ending == "finished"
        and not own
        and instrumented.has_same_outcomes(run, first_run)
    )


def measure_flakiness(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    first_run: TestRun,
    expected: Expectation | None,
) -> Flakiness:
    """The tests once more, shuffled and with another hash seed: each must end as before."""
    run = _run_shuffled(sandbox, code, tests, module, expected)
    cut_short = _describe_timeout(run) if run.ending == "timeout" else ""
    first, again = first_run.outcomes, run.outcomes
    differing = sorted(
        name for name in first.keys() | again.keys() if first.get(name) != again.get(name)
    )
    return Flakiness(
        reached=not differing and run.passed == first_run.passed,
        order_seed=_ORDER_SEED,
        hash_seed=_HASH_SEED,
        differing=tuple(differing) if not cut_short else (),
        cut_short=cut_short,
    )


def _run_shuffled(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    expected: Expectation | None = None,
) -> TestRun:
    shuffled = partial(sandbox.run_tests, order_seed=_ORDER_SEED, hash_seed=_HASH_SEED, brief=True)
    return shuffled(code, tests, module=module, expected=expected)


def _describe_timeout(run: TestRun) -> str:
    return f"out of time after {len(run.tests)} tests"
