"""Parsing of source that may not parse."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
_MAX_RACES = 4


def parse_in_thread(code: str) -> ast.Module:
    """Return the syntax tree of a module; parse again where other threads disturbed it.

    CPython 3.11 can raise SystemError ("AST constructor recursion depth mismatch") where several
    threads parse at the same time (python/cpython#106905).

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the code does not parse.
    """
    for _ in range(_MAX_RACES):
        with suppress(SystemError):
            return ast.parse(code)
    return ast.parse(code)


def parse_or_none(code: str) -> ast.Module | None:
    """Return the syntax tree of a module; None if it does not parse."""
    try:
        return parse_in_thread(code)
    except PARSE_ERRORS:
        return None


def parse_or_empty(code: str) -> ast.Module:
    """Return the syntax tree of a module; an empty one if it does not parse."""
    return parse_or_none(code) or ast.Module([], [])


def read_literal(source: str | ast.expr) -> tuple[Any, ...]:
    """Return the value of a literal in a tuple; () where the source or node is none."""
    try:
        return (ast.literal_eval(source),)
    except (*PARSE_ERRORS, TypeError):
        return ()
