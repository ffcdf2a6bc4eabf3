"""Parsing of source that may not parse."""

import ast
import platform
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
# Decorator of functions that read a source or a specification: a run calls them with the same text
# in many places, and a batch works on dozens of runs at once.
cache_by_source = lru_cache(maxsize=256)
_MAX_RACES = 4
_T = TypeVar("_T")


def describe_python() -> str:
    """Return the version of the Python that runs greenloop, as `Python 3.12`."""
    return f"Python {'.'.join(platform.python_version_tuple()[:2])}"


# Why evidence that needs a syntax tree is missing: a project's Python may be newer.
UNREADABLE = f"the code cannot be parsed by greenloop's {describe_python()}"


def call_again_after_race(function: Callable[[], _T]) -> _T:
    """Return what a function returns; call it again where `ast.parse` failed by chance.

    CPython 3.11 can raise SystemError ("AST constructor recursion depth mismatch") where several
    threads parse at the same time (python/cpython#106905).
    """
    for _ in range(_MAX_RACES):
        with suppress(SystemError):
            return function()
    return function()


def parse_or_none(code: str) -> ast.Module | None:
    """Return the syntax tree of a module; None if it does not parse."""
    try:
        return call_again_after_race(lambda: ast.parse(code))
    except PARSE_ERRORS:
        return None


def parse_or_empty(code: str) -> ast.Module:
    """Return the syntax tree of a module; an empty one if it does not parse."""
    return parse_or_none(code) or ast.Module([], [])


def read_literal(source: str | ast.expr) -> tuple[Any, ...]:
    """Return the value of a literal in a tuple; () for any other source or node."""
    try:
        return (ast.literal_eval(source),)
    except (*PARSE_ERRORS, TypeError):
        return ()
