"""Whether two pieces of source are the same program, by what they compile to."""

from __future__ import annotations

import __future__

import ast
import types
import warnings
from typing import Any

from greenloop.grading.mutants.text import Source


class Statements:
    """A module's top-level statements: to compile a change only the one around it is compiled."""

    def __init__(self, tree: ast.Module, source: Source) -> None:
        self._source = source
        self._flags = __future__.annotations.compiler_flag if _postponed(tree) else 0
        self._spans = [_span(item, source) for item in tree.body]
        self._own: dict[int, Any] = {}

    def changed(self, start: int, end: int, text: str) -> tuple[int, Any] | None:
        """The number of the statement, and what it is with the change; None: it does not compile.

        None too where it is the same program as without the change.
        """
        number = next((n for n, (a, b) in enumerate(self._spans) if a <= start and end <= b), None)
        if number is None:
            return None
        first, last = self._spans[number]
        whole = self._source.text
        compiled = self._compiled(whole[first:start] + text + whole[end:last])
        if compiled is None:
            return None
        if number not in self._own:
            self._own[number] = self._compiled(whole[first:last])
        return None if compiled == self._own[number] else (number, compiled)

    def _compiled(self, text: str) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return identity(compile(text, "<mutant>", "exec", self._flags, True))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def identity(code: types.CodeType) -> Any:
    """What a code object does, whatever its lines are."""
    constants = tuple(
        identity(item) if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    handlers = getattr(code, "co_exceptiontable", b"")
    return (code.co_name, code.co_code, handlers, names, counts, constants)


def _span(node: ast.stmt, source: Source) -> tuple[int, int]:
    start, end = source.span(node)
    decorators = getattr(node, "decorator_list", [])
    if decorators:
        start = source.text.rfind("@", 0, source.span(decorators[0])[0])
    return start, end


def _postponed(tree: ast.Module) -> bool:
    return any(
        isinstance(item, ast.ImportFrom)
        and item.module == "__future__"
        and any(name.name == "annotations" for name in item.names)
        for item in tree.body
    )
