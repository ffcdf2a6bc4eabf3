"""Suggestions for misspelled keyword arguments."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def suggest_keyword(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Add the nearest known name to the TypeError for an unknown keyword, as Python 3.13 does."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*arguments: _P.args, **values: _P.kwargs) -> _T:
        for name in values:
            if name not in known:
                close = get_close_matches(name, known, 1)
                hint = f". Did you mean '{close[0]}'?" if close else ""
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument '{name}'{hint}"
                )
        return function(*arguments, **values)

    return call
