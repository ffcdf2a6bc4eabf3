"""Certainty that an assertion is executed when its test passes."""

import ast
from collections.abc import Iterator
from enum import IntEnum

from greenloop.grading.assertion_mutation.operators import get_called_name
from greenloop.syntax.nodes import Function
from greenloop.testsuite.parser import iter_own_nodes

# Context managers that do not swallow an error.
TRANSPARENT_CONTEXTS = frozenset(
    "open patch dict object multiple at_level context subTest TemporaryDirectory NamedTemporaryFile "
    "nullcontext closing catch_warnings chdir record localcontext".split()
)
# Decorators that do not swallow an error.
_TRANSPARENT_DECORATORS = frozenset(
    "patch object dict multiple given settings example seed staticmethod classmethod".split()
)
_EXIT_CALLS = frozenset({"skip", "skipTest", "importorskip", "xfail", "exit"})


class Certainty(IntEnum):
    """Whether an assertion is executed when its test passes."""

    MAYBE = 0  # in a branch
    LIKELY = 1  # in a loop
    CERTAIN = 2


def is_transparent(decorators: list[ast.expr]) -> bool:
    """Whether no decorator can swallow a test's failure."""
    return all(
        ".mark." in f".{ast.unparse(item)}"
        or (get_called_name(item) or ast.unparse(item)) in _TRANSPARENT_DECORATORS
        for item in decorators
    )


def has_early_exit(node: Function) -> bool:
    leaving = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(
        isinstance(item, leaving) or get_called_name(item) in _EXIT_CALLS
        for item in iter_own_nodes(node.body)
    )


def is_always_entered(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop's body is certainly executed, as it iterates over a non-empty literal."""
    jumps = (ast.Break, ast.Continue)
    if isinstance(node, ast.While) or any(isinstance(item, jumps) for item in ast.walk(node)):
        return False
    return isinstance(node.iter, (ast.List, ast.Tuple, ast.Set)) and any(
        not isinstance(item, ast.Starred) for item in node.iter.elts
    )


def iter_branches(node: ast.If | ast.Try | ast.Match) -> Iterator[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        yield from (case.body for case in node.cases)
        return
    yield node.body
    yield node.orelse
    if isinstance(node, ast.Try):
        yield from (handler.body for handler in node.handlers)
        yield node.finalbody
