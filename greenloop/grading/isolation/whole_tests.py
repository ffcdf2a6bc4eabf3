"""Tests as they are in a process without pytest, where what they fail on is the code's.

The code can read there what they expect, so that a test that passes proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from greenloop.grading.context import GradingContext
from greenloop.grading.isolation.runs import SEED_OF_TESTS
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.work.scenarios import Observations
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios import WholeFile

# What a test expects does not hold, or more than that is equal to what the code gives.
_FALSE = ("AssertionError: ", "IndistinctError: ")


class WholeTests(NamedTuple):
    """Tests that fail: only where no test runs, twice; and on an assertion beside the tests too.

    `replaced` is a function of the test framework that is another one after the tests, though
    none of them names it; '' for none.
    """

    fail_apart: Collection[str] = ()
    fail: Collection[str] = ()
    replaced: str = ""


def compare_whole_tests(context: GradingContext, file: TestFile) -> WholeTests:
    """Return the tests of a file that fail without pytest.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    plan = context.plan_whole_tests(file)
    apart = _find_failing(plan, _observe(context, plan)) if plan.tests else {}
    if not apart:
        return WholeTests()
    seen = _observe(context, plan, context.tests)
    beside = _find_failing(plan, seen) if seen.rows else dict.fromkeys(plan.tests, seen.error)
    suspects = apart.keys() - beside.keys()
    if suspects:
        again = _observe(context, plan, hash_seed=SEED_OF_TESTS)
        suspects &= _find_failing(plan, again).keys()
    fail = {name for name in apart.keys() & beside.keys() if _are_false(apart[name], beside[name])}
    is_named = _are_naming(context.tests, seen.framework)
    return WholeTests(suspects, fail, "" if is_named else seen.framework)


def _observe(
    context: GradingContext,
    plan: WholeFile,
    beside: Sequence[TestFile] = (),
    hash_seed: int = HASH_SEED,
) -> Observations:
    return context.sandbox.observe_scenarios(
        context.code, context.module, plan.text, beside=beside, hash_seed=hash_seed
    )


def _find_failing(plan: WholeFile, seen: Observations) -> dict[str, str]:
    """Return tests with the error that ended one of their rows."""
    return {plan.tests[item.scenario]: item.error for item in seen.rows if item.error}


def _are_naming(tests: Sequence[TestFile], member: str) -> bool:
    """Whether a test names a member of a module or class, and may have replaced it itself."""
    owner, _, name = member.rpartition(".")
    pattern = rf"\b{re.escape(owner.rpartition('.')[2])}\W+{re.escape(name)}\b"
    return any(re.search(pattern, item.code) for item in tests)


def _are_false(*errors: str) -> bool:
    """Whether all of these are assertions of the test that do not hold."""
    return all(item.startswith(_FALSE) for item in errors)
