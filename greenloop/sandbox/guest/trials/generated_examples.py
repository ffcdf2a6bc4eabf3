"""Tests with generated examples: a trial ends with the first one that fails."""

import functools
import inspect
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import pytest

_FAILURES = (Exception, pytest.fail.Exception)


class _ExampleError(BaseException):
    """An example has failed; hypothesis looks for no shorter one after what it does not catch."""


def end_at_first_failure(items: Iterable[Any]) -> None:
    """Let tests of hypothesis end with the first example that fails, which is all that a trial needs.

    Coroutines are left to the plug-ins that run them, and examples that are expected to fail to hypothesis.
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
