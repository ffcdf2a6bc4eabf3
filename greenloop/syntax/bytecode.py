"""Comparison of programs by their bytecode."""

from __future__ import annotations
import __future__

import ast
import types
import warnings
from collections.abc import Iterator
from typing import Any

from greenloop.syntax.edit import TextEdit
from greenloop.syntax.source import Source

CompilationUnit = tuple[int, int, int, str]


class CompilationUnits:
    """The statements of a module and the members of its classes, each compiled separately.

    To compile an edit, only the unit around it is compiled.
    """

    def __init__(self, tree: ast.Module, source: Source) -> None:
        self._source = source
        self._flags = (
            __future__.annotations.compiler_flag if _has_postponed_annotations(tree) else 0
        )
        self._units = list(_find_units(tree, source))
        self._original_fingerprints: dict[CompilationUnit, Any] = {}

    def find_enclosing(self, start: int, end: int) -> CompilationUnit | None:
        """Return start, end, first line and class ('' for none) of the smallest unit around a span."""
        enclosing = [unit for unit in self._units if unit[0] <= start and end <= unit[1]]
        return min(enclosing, key=lambda unit: unit[1] - unit[0], default=None)

    def compile_edit(self, unit: CompilationUnit, edit: TextEdit) -> Any:
        """Return the unit's fingerprint after an edit; None if it does not compile or is unchanged."""
        first, last, _, owner = unit
        whole = self._source.text
        edited = whole[first : edit.start] + edit.text + whole[edit.end : last]
        compiled = self._compile_unit(edited, owner)
        if compiled is None:
            return None
        if unit not in self._original_fingerprints:
            self._original_fingerprints[unit] = self._compile_unit(whole[first:last], owner)
        return None if compiled == self._original_fingerprints[unit] else (unit, compiled)

    def _compile_unit(self, text: str, owner: str) -> Any:
        text = f"class {owner}:\n{text}" if owner else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return fingerprint_code(compile(text, "<mutant>", "exec", self._flags, True))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def fingerprint_code(code: types.CodeType) -> Any:
    """Return what a code object does, without its line numbers; equal programs compare equal."""
    constants = tuple(
        (
            fingerprint_code(item)
            if isinstance(item, types.CodeType)
            else (type(item).__name__, repr(item))
        )
        for item in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    handlers = getattr(code, "co_exceptiontable", b"")
    return (code.co_name, code.co_code, handlers, names, counts, constants)


def _find_units(tree: ast.Module, source: Source) -> Iterator[CompilationUnit]:
    for statement in tree.body:
        start, end = _span_with_decorators(statement, source)
        yield start, end, source.get_line_number(start), ""
        if isinstance(statement, ast.ClassDef):
            for member in statement.body:
                start, end = _span_with_decorators(member, source)
                line = source.get_line_number(start)
                indented = source.line_start(line)
                if source.text[indented:start].isspace():
                    yield indented, end, line, statement.name


def _span_with_decorators(node: ast.stmt, source: Source) -> tuple[int, int]:
    start, end = source.span(node)
    decorators = getattr(node, "decorator_list", [])
    if decorators:
        start = source.text.rfind("@", 0, source.span(decorators[0])[0])
    return start, end


def _has_postponed_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(item, ast.ImportFrom)
        and item.module == "__future__"
        and any(name.name == "annotations" for name in item.names)
        for item in tree.body
    )
