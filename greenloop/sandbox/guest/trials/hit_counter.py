"""Counter of loop iterations and calls in changed functions, with a limit.

A mutant that loops for ever exceeds the limit within milliseconds, on a machine of any speed; with
a limit of time alone, each costs a process and the whole time limit.
"""

from __future__ import annotations

import ast
import types

MIN_HIT_LIMIT, HIT_FACTOR = 10_000, 100  # as often as on the original code
_MARK = "\0count a hit"  # stands for the counter until the code is compiled
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)


class HitLimitExceeded(BaseException):
    """Code was run more often than the limit allows."""


class HitCounter:
    """Counts how often the code that calls it is run."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, limit: int | None) -> None:
        """Count from 0, up to a limit (None: no limit)."""
        self.count, self._limit = 0, limit

    @property
    def is_exceeded(self) -> bool:
        return self._limit is not None and self.count > self._limit

    def __call__(self) -> None:
        self.count += 1
        if self._limit is not None and self.count > self._limit:
            raise HitLimitExceeded

    def insert_into(self, code: types.CodeType) -> types.CodeType:
        """Return code, compiled from a marked tree, that calls this counter."""
        constants = [
            self.insert_into(item) if isinstance(item, types.CodeType) else self._replace_mark(item)
            for item in code.co_consts
        ]
        return code.replace(co_consts=tuple(constants))

    def _replace_mark(self, constant: object) -> object:
        return self if type(constant) is str and constant == _MARK else constant


def has_unbounded_loop(text: str) -> bool:
    """Return whether a module has a loop that may not end."""
    return any(isinstance(node, ast.While) for node in ast.walk(ast.parse(text)))


def mark_loops(tree: ast.Module) -> ast.Module:
    """Mark the start of each function and of each loop's body for the counter."""
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, *_LOOPS)):
            has_docstring = isinstance(node, _FUNCTIONS) and ast.get_docstring(node) is not None
            mark = ast.Expr(ast.Call(ast.Constant(_MARK), [], []))
            node.body.insert(int(has_docstring), ast.copy_location(mark, node.body[0]))
    return ast.fix_missing_locations(tree)
