"""Tests of hypothesis in trials: how many examples they run once one has failed."""

import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from greenloop.sandbox.guest.trials.generated_examples import end_at_first_failure

PLAIN = settings(derandomize=True, database=None, deadline=None)


def run(body: Callable[[int], None], *marks: Any) -> tuple[list[int], BaseException | None]:
    """Return the examples on which a test was run, and the error with which it has ended."""
    seen: list[int] = []

    def test(number: int) -> None:
        seen.append(number)
        body(number)

    found = given(st.integers(min_value=0, max_value=10**6))(test)
    for mark in (PLAIN, *marks):
        found = mark(found)
    end_at_first_failure([SimpleNamespace(obj=found), SimpleNamespace(obj=found), object()])
    try:
        found()
    except BaseException as error:
        return seen, error
    return seen, None


def check_size(number: int) -> None:
    assert number < 1000


def assume_size(number: int) -> None:
    assume(number < 500_000)


@pytest.mark.parametrize("fails", [check_size, lambda number: pytest.fail("x")])
def test_no_shorter_example_is_looked_for(fails: Callable[[int], None]) -> None:
    seen, error = run(fails)
    assert not isinstance(error, Exception | None)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        fails(seen[-1])
    assert len(seen) == 1 or max(seen[:-1]) < 1000


def test_what_is_assumed_is_no_failure() -> None:
    seen, error = run(assume_size)
    assert (error, max(seen) >= 500_000) == (None, True)


def skip(number: int) -> None:
    raise unittest.SkipTest("not here")


def test_a_skip_remains_a_skip() -> None:
    assert isinstance(run(skip)[1], unittest.SkipTest)


def test_an_example_may_be_expected_to_fail() -> None:
    expected = example(-1).xfail(raises=AssertionError)
    assert run(lambda number: check_size(1000 * (number < 0)), expected)[1] is None
    assert isinstance(run(lambda number: check_size(1000), expected)[1], AssertionError)
