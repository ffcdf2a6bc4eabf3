"""What a test gives back: pytest and unittest pass over it, so it must not be the test's verdict."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from .failure_details import ASYNC_ADVICE

_GENERATOR_TYPES = (types.GeneratorType, types.AsyncGeneratorType)
GENERATOR_ADVICE = (
    "the test gave back a generator: nothing of it was run. Write a plain test without yield"
)
FALSE_ADVICE = (
    "the test gave back False, which pytest passes over. Write `assert ...`, not `return ...`"
)


def check_return_value(
    test: Callable[..., Any], reject: Callable[[str], None]
) -> Callable[..., Any]:
    """The same test; `refuse` is told where what it gives back shows that it passed for nothing."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> Any:
        found = test(*args, **named)
        if advice := _find_advice(found):
            reject(advice)
        return found

    return run


def _find_advice(returned: object) -> str:
    """Why what was given back means that the test did not pass; '' for all else."""
    if returned is False:
        return FALSE_ADVICE
    if isinstance(returned, _GENERATOR_TYPES):
        return GENERATOR_ADVICE
    if inspect.isawaitable(returned):
        if isinstance(returned, types.CoroutineType):
            returned.close()  # else Python complains besides that nobody awaited it
        return ASYNC_ADVICE
    return ""
