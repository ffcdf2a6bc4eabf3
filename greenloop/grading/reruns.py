"""Evidence that comes from running the same tests again under other conditions."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.records import Expectation, Flakiness, HollowRun, TestRun
from greenloop.sandbox import Sandbox
from greenloop.suite import TestFile
from greenloop.suite.stub import hollow

_ORDER_SEED, _HASH_SEED = 20261, 4711  # any fixed values: a repeat must give the same verdict


def hollow_run(box: Sandbox, code: str, tests: Sequence[TestFile], module: str) -> HollowRun | None:
    """The tests on the code with every function body raising: they must be red.

    Code that makes them green there does something to the tests while it is imported. None where
    the code does not parse.
    """
    try:
        source = hollow(code)
    except (SyntaxError, ValueError, RecursionError):
        return None
    run = box.run_tests(source, tests, module=module)
    return HollowRun(reached=not run.passed, passed=run.passed_count, failed=len(run.failing))


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
    run = box.run_tests(
        code, tests, module=module, expected=expected, order_seed=_ORDER_SEED, hash_seed=_HASH_SEED
    )
    first = {test.id: test.outcome for test in before.tests}
    again = {test.id: test.outcome for test in run.tests}
    differing = sorted(
        name for name in first.keys() | again.keys() if first.get(name) != again.get(name)
    )
    return Flakiness(
        reached=not differing and run.passed == before.passed,
        order_seed=_ORDER_SEED,
        hash_seed=_HASH_SEED,
        differing=tuple(differing),
    )
