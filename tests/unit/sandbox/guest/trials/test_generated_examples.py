"""Tests of hypothesis in trials: how many examples they run once one has failed."""

import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from greenloop.sandbox.guest.trials.generated_examples import end_at_first_failure


def run(body: Callable[[int], Any], *marks: Any) -> tuple[list[int], BaseException | None]:
    """Return the examples on which a test was run, and the error with which it has ended."""
    seen: list[int] = []

    def test(number: int) -> None:
        seen.append(number)
        body(number)

    found: Any = given(st.integers(0, 10**6))(test)
    for mark in (settings(derandomize=True, database=None, deadline=None), *marks):
        found = mark(found)
    end_at_first_failure([SimpleNamespace(obj=found), SimpleNamespace(obj=found), object()])
    try:
        found()
    except BaseException as error:
        return seen, error
    return seen, None


def fail_above(limit: int, number: int) -> None:
    assert number < limit


@pytest.mark.parametrize("fails", [lambda number: fail_above(1000, number), pytest.fail])
def test_no_shorter_example_is_looked_for(fails: Callable[[int], Any]) -> None:
    seen, error = run(fails)
    assert not isinstance(error, Exception | None)
    assert max(seen[:-1], default=0) < 1000


def test_what_is_assumed_or_skipped_is_no_failure() -> None:
    seen, error = run(lambda number: assume(number < 500_000))
    assert (error, max(seen) >= 500_000) == (None, True)
    skip = unittest.SkipTest("not here")
    assert run(lambda number: (_ for _ in ()).throw(skip))[1] is skip


def test_an_example_may_be_expected_to_fail() -> None:
    expected = example(-1).xfail(raises=AssertionError)
    assert run(lambda number: fail_above(1, number < 0), expected)[1] is None
    assert isinstance(run(lambda number: fail_above(0, 0), expected)[1], AssertionError)
