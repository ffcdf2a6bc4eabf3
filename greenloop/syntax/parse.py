"""Whether a source parses."""

from __future__ import annotations

import ast


def parse_or_none(code: str) -> ast.Module | None:
    """Its syntax tree; None where it has none."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
