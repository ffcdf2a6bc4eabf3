"""Tests with generated examples, of which a trial ends at the first failure."""

import functools
import inspect
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import pytest

_FAILURES = (Exception, pytest.fail.Exception)


class _ExampleError(BaseException):
    """An example failed. hypothesis does not catch this, so it searches for no shorter example."""


def end_at_first_failure(items: Iterable[Any]) -> None:
    """Make tests of hypothesis end at the first failing example, which is enough for a trial.

    Coroutines (run by plug-ins) and tests with examples that are expected to fail are not changed.
    """
    tests: Iterable[Any] = (getattr(item, "obj", None) for item in items)
    handles = {
        id(test.hypothesis): test.hypothesis
        for test in tests
        if hasattr(test, "hypothesis") and not _expects_failure(test)
    }
    for handle in handles.values():
        inner = getattr(handle, "inner_test", None)
        if callable(inner) and not inspect.iscoroutinefunction(inner):
            handle.inner_test = _end_at_failure(inner)


def _expects_failure(test: Any) -> bool:
    examples = getattr(test, "hypothesis_explicit_examples", ())
    return any(getattr(item, "raises", ()) for item in examples)


def _end_at_failure(inner: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def run_example(*arguments: Any, **values: Any) -> Any:
        try:
            return inner(*arguments, **values)
        except _FAILURES as error:
            is_control = type(error).__module__.partition(".")[0] == "hypothesis"
            if is_control or isinstance(error, unittest.SkipTest):
                raise
            raise _ExampleError from error

    return run_example
