"""Comparison of programs by their bytecode."""

import __future__

import ast
import types
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from greenloop.syntax.source import Source, TextEdit

_MAX_CHARACTERS = 4096

CompilationUnit = tuple[int, int, int, str]


class CompilationUnits:
    """The statements of a module and the members of its classes, each compiled separately.

    To compile an edit, only the unit around it is compiled.
    """

    def __init__(self, tree: ast.Module, source: Source) -> None:
        self._text = source.text
        self._flags = (
            __future__.annotations.compiler_flag if _has_postponed_annotations(tree) else 0
        )
        self._units = list(_find_units(tree, source))
        self._starts = [unit[0] for unit in self._units]
        self._originals: dict[CompilationUnit, Any] = {}

    def find_enclosing(self, start: int, end: int) -> CompilationUnit | None:
        """Return the smallest unit around a span: start, end, first line, class ('' for none)."""
        last = bisect_right(self._starts, start)
        return next((unit for unit in reversed(self._units[:last]) if end <= unit[1]), None)

    def compile_edit(self, unit: CompilationUnit, edit: TextEdit) -> Any:
        """Return a fingerprint of the edited unit; None if it is equal or does not compile.

        A long unit is not compiled, as the time for all its edits would grow with the square of its
        length: nearly every edit of it gives another program.
        """
        if unit[1] - unit[0] > _MAX_CHARACTERS:
            return unit, edit
        if unit not in self._originals:
            self._originals[unit] = self._compile(unit, self._text[unit[0] : unit[1]])
        start, end = unit[:2]
        compiled = self._compile(
            unit, self._text[start : edit.start] + edit.text + self._text[edit.end : end]
        )
        return None if compiled in (None, self._originals[unit]) else (unit, compiled)

    def _compile(self, unit: CompilationUnit, text: str) -> Any:
        program = f"class {unit[3]}:\n{text}" if unit[3] else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return fingerprint_code(compile(program, "<mutant>", "exec", self._flags, True))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def fingerprint_code(code: types.CodeType) -> Any:
    """Return a code object's fingerprint, without line numbers; equal programs compare equal."""
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
        start, end = source.span_with_decorators(statement)
        yield start, end, source.get_line_number(start), ""
        if isinstance(statement, ast.ClassDef):
            for member in statement.body:
                start, end = source.span_with_decorators(member)
                line = source.get_line_number(start)
                indented = source.line_start(line)
                if source.text[indented:start].isspace():
                    yield indented, end, line, statement.name


def _has_postponed_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(item, ast.ImportFrom)
        and item.module == "__future__"
        and any(name.name == "annotations" for name in item.names)
        for item in tree.body
    )
