"""Tests that make each call that is written in them, if they pass."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from greenloop.syntax.parse import cache_by_source, parse_or_empty

_BRANCHES = (ast.BoolOp, ast.IfExp, ast.GeneratorExp, ast.If, ast.While, ast.Try, ast.Match)


@cache_by_source
def has_classes(code: str) -> bool:
    """Whether a module defines classes."""
    return any(isinstance(node, ast.ClassDef) for node in ast.walk(parse_or_empty(code)))


def are_straight(tests: Iterable[str]) -> bool:
    """Whether no test file has a form that may leave out calls."""
    return all(map(_is_straight, tests))


@cache_by_source
def _is_straight(tests: str) -> bool:
    return not any(
        isinstance(node, _BRANCHES)
        or (isinstance(node, ast.Compare) and len(node.ops) > 1)
        or (isinstance(node, ast.comprehension) and node.ifs)
        or (isinstance(node, (ast.With, ast.AsyncWith)) and _count_calls(node.body) > 1)
        for node in ast.walk(parse_or_empty(tests))
    )


def _count_calls(body: list[ast.stmt]) -> int:
    """Return how many calls a block has; the first of them may raise what its test expects."""
    return sum(isinstance(node, ast.Call) for item in body for node in ast.walk(item))
