"""Detection of tests that pass although their body was not run, or returns instead of asserting."""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any
from unittest import TestCase

from .failure_details import ASYNC_ADVICE

_GENERATOR_TYPES = (types.GeneratorType, types.AsyncGeneratorType)
GENERATOR_ADVICE = (
    "the test returned a generator: none of it was run. Write a plain test without yield"
)
FALSE_ADVICE = "the test returned False, which pytest ignores. Write `assert ...`, not `return ...`"


def is_async(function: Any) -> bool:
    """Return whether a call of the function only creates a coroutine or an async generator."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def is_plain_unittest(item: Any) -> bool:
    """Return whether an item is a method of a `unittest` class that runs no async methods."""
    kind = getattr(item, "cls", None)
    if not (isinstance(kind, type) and issubclass(kind, TestCase)):
        return False
    return kind.run is TestCase.run and kind._callTestMethod is TestCase._callTestMethod  # type: ignore[attr-defined]


def check_return_value(
    test: Callable[..., Any], reject: Callable[[str], None]
) -> Callable[..., Any]:
    """Wrap a test; call `reject` with advice if its return value shows that it did not pass."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> Any:
        returned = test(*args, **named)
        if advice := _find_advice(returned):
            reject(advice)
        return returned

    return run


def _find_advice(returned: object) -> str:
    """Return why a return value means that the test did not pass; '' if it does not."""
    if returned is False:
        return FALSE_ADVICE
    if isinstance(returned, _GENERATOR_TYPES):
        return GENERATOR_ADVICE
    if inspect.isawaitable(returned):
        if isinstance(returned, types.CoroutineType):
            returned.close()  # otherwise Python warns that it was never awaited
        return ASYNC_ADVICE
    return ""
