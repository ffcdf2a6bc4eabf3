"""Parsing of source that may not parse."""

from __future__ import annotations

import ast
from typing import Any

PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_or_none(code: str) -> ast.Module | None:
    """Return the syntax tree of a module; None if it does not parse."""
    try:
        return ast.parse(code)
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
