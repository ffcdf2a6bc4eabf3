"""Comparison of programs by their bytecode."""

from __future__ import annotations
import __future__

import ast
import types
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.source import Source, TextEdit
from greenloop.syntax.windows import MAX_UNIT_CHARACTERS, Window, find_window

_LARGE_COMPILATIONS = 100  # of as many characters as the module has, for all large parts together

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
        self._starts = [unit[0] for unit in self._units]
        self._original_fingerprints: dict[Any, Any] = {}
        self._large_characters_left = _LARGE_COMPILATIONS * len(source.text)

    def find_enclosing(self, start: int, end: int) -> CompilationUnit | None:
        """Return start, end, first line and class ('' for none) of the smallest unit around a span."""
        last = bisect_right(self._starts, start)
        return next((unit for unit in reversed(self._units[:last]) if end <= unit[1]), None)

    def compile_edit(self, unit: CompilationUnit, edit: TextEdit, context: NodeContext) -> Any:
        """Return a fingerprint of the unit after an edit of a node.

        None if it does not compile or is unchanged. Of a long unit only a part is compiled.
        """
        start, end, _, owner = unit
        whole = Window(start, end, f"class {owner}:\n" if owner else "")
        window = find_window(context, edit) if end - start > MAX_UNIT_CHARACTERS else None
        if not self._may_compile(window or whole):
            return None
        part = window if window and self._get_original(window) else whole
        compiled = self._compile(part, edit)
        return None if compiled in (None, self._get_original(part)) else (part, compiled)

    def _may_compile(self, part: Window) -> bool:
        """Return whether there is time for it: an expression of any length may have many edits."""
        length = part.end - part.start
        if length <= MAX_UNIT_CHARACTERS:
            return True
        self._large_characters_left -= length
        return self._large_characters_left >= 0

    def _get_original(self, part: Window) -> Any:
        if part not in self._original_fingerprints:
            self._original_fingerprints[part] = self._compile(part)
        return self._original_fingerprints[part]

    def _compile(self, part: Window, edit: TextEdit | None = None) -> Any:
        try:
            program = part.build_program(self._source.text, edit)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return fingerprint_code(compile(program, "<mutant>", "exec", self._flags, True))
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
