"""Small parts of large functions, compiled in place of the whole to see what an edit changes.

Compiling a whole function for each of its edits takes time that grows with the square of its
length. A window is a statement or an expression around the edit, in a function of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.syntax.nodes import Function, NodeContext
from greenloop.syntax.source import Source, TextEdit

MAX_UNIT_CHARACTERS = 4096  # shorter units are compiled as a whole
_MAX_WINDOW_CHARACTERS = 1024
_FUNCTIONS = (Function, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NOT_ALONE = (ast.Starred, ast.Slice)


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text: its span, the text around it that makes it a program, and its place."""

    start: int
    end: int
    prefix: str = ""
    suffix: str = ""
    is_in_async_function: bool | None = None
    is_in_loop: bool = False

    def build_program(self, text: str, edit: TextEdit | None = None) -> str | ast.Module:
        """Return the program of this part of a text, after an edit. Raises SyntaxError."""
        part = text[self.start : self.end]
        if edit:
            part = text[self.start : edit.start] + edit.text + text[edit.end : self.end]
        part = part.removeprefix("el") if part.startswith("elif") else part
        program = f"{self.prefix}{part}{self.suffix}"
        is_indented = self.prefix.startswith("if")
        if not (is_indented or self.is_in_loop) and self.is_in_async_function is None:
            return program
        body = ast.parse(program).body
        if is_indented:
            body = getattr(body[0], "body", [])
        if self.is_in_loop:
            body = [ast.While(ast.Constant(True), body, [])]
        if self.is_in_async_function is not None:
            template = ast.parse(f"{'async ' * self.is_in_async_function}def _(): pass").body[0]
            template.body = body  # type: ignore[attr-defined]
            body = [template]
        return ast.fix_missing_locations(ast.Module(body, []))


def find_window(context: NodeContext, edit: TextEdit) -> Window | None:
    """Return the largest small window around an edit, else the smallest; None if there is none."""
    path = (context.node, *reversed(context.ancestors))
    found: Window | None = None
    for index, node, span in _iter_windows(path, context.source, edit):
        if found and span[1] - span[0] > _MAX_WINDOW_CHARACTERS:
            break
        found = _build_window(node, span, path[index + 1 :], context.source)
    return found


def _iter_windows(
    path: tuple[ast.AST, ...], source: Source, edit: TextEdit
) -> Iterator[tuple[int, ast.expr | ast.stmt, tuple[int, int]]]:
    """Yield the nodes around an edit that can stand alone, with the spans that are compiled."""
    first = max((n for n, node in enumerate(path) if isinstance(node, ast.JoinedStr)), default=0)
    for index, node in enumerate(path[first:], first):
        if not isinstance(node, (ast.expr, ast.stmt)) or isinstance(node, _NOT_ALONE):
            continue
        start, end = source.span_with_decorators(node)
        header_end = _find_header_end(node, source)
        if header_end and edit.end <= header_end:
            end = header_end
        if start <= edit.start and edit.end <= end:
            yield index, node, (start, end)


def _find_header_end(node: ast.AST, source: Source) -> int:
    """Return where the body of a compound statement begins; 0 for another node."""
    body = getattr(node, "body", None)
    if not isinstance(node, ast.stmt) or not isinstance(body, list) or not body:
        return 0
    return source.span_with_decorators(body[0])[0]


def _build_window(
    node: ast.expr | ast.stmt, span: tuple[int, int], above: tuple[ast.AST, ...], source: Source
) -> Window:
    start, end = span
    functions = [n for n, item in enumerate(above) if isinstance(item, _FUNCTIONS)]
    around = above[: functions[0]] if functions else above
    is_async = isinstance(above[functions[0]], ast.AsyncFunctionDef) if functions else None
    is_in_loop = any(isinstance(item, _LOOPS) for item in around)
    if isinstance(node, ast.expr):
        return Window(start, end, "(", ")", is_async, is_in_loop)
    indent = source.text[source.line_start(source.get_line_number(start)) : start]
    prefix = f"if 1:\n{indent}" if indent.isspace() else ""
    suffix = "pass" if end == _find_header_end(node, source) else ""
    return Window(start, end, prefix, suffix, is_async, is_in_loop)
