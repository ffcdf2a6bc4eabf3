"""Tests as they are in a process without pytest, where what they fail on is the code's.

The code can read there what they expect, so that a test that passes proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from greenloop.grading.context import GradingContext
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios import WholeFile

# What a test expects does not hold, or more than that is equal to what the code gives.
_FALSE = ("AssertionError: ", "IndistinctError: ")


class WholeTests(NamedTuple):
    """Tests that fail: only where no test runs, twice; and on an assertion beside the tests too."""

    fail_apart: Collection[str] = ()
    fail: Collection[str] = ()


def compare_whole_tests(context: GradingContext, file: TestFile) -> WholeTests:
    """Return the tests of a file that fail without pytest.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    plan = context.plan_whole_tests(file)
    apart = _find_failing(context, plan) if plan.tests else {}
    if not apart:
        return WholeTests()
    beside = _find_failing(context, plan, context.tests)
    suspects = apart.keys() - beside.keys()
    if suspects:
        suspects &= _find_failing(context, plan).keys()
    fail = {name for name in apart.keys() & beside.keys() if _are_false(apart[name], beside[name])}
    return WholeTests(suspects, fail)


def _find_failing(
    context: GradingContext, plan: WholeFile, beside: Sequence[TestFile] = ()
) -> dict[str, str]:
    """Return tests with the error that ended one of their rows."""
    seen = context.sandbox.observe_scenarios(context.code, context.module, plan.text, beside=beside)
    if beside and not seen.rows:
        return dict.fromkeys(plan.tests, seen.error)
    return {plan.tests[item.scenario]: item.error for item in seen.rows if item.error}


def _are_false(*errors: str) -> bool:
    """Whether all of these are assertions of the test that do not hold."""
    return all(item.startswith(_FALSE) for item in errors)
