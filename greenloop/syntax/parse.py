"""Parsing of source that may not parse."""

from __future__ import annotations

import ast


def parse_or_none(code: str) -> ast.Module | None:
    """Return the syntax tree of a module; None if it does not parse."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
