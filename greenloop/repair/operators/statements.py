"""Statements moved, swapped, left out; loops left otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext
from greenloop.repair.operators.blocks import (
    INDENT_STEP,
    StatementLines,
    find_containing_body,
    find_statement_lines,
    is_jump_statement,
)
from greenloop.syntax.edit import TextEdit

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_COMPOUND_STATEMENTS = (*_LOOPS, ast.If, ast.With)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def move_statement(context: NodeContext) -> Iterator[TextEdit]:
    """The last statement of a block moved behind it; the one behind it moved into it."""
    node = context.node
    body = find_containing_body(context) if isinstance(node, ast.stmt) else None
    here = (
        find_statement_lines(context, node)
        if isinstance(node, ast.stmt) and body is not None
        else None
    )
    if here is None or body is None or not isinstance(node, _COMPOUND_STATEMENTS):
        return
    at = next(n for n, item in enumerate(body) if item is node)
    yield from _move_out(context, node, here)
    if at + 1 < len(body) and not isinstance(body[at + 1], _DEFINITIONS):
        yield from _move_into(context, node, here, body[at + 1])


def _move_out(
    context: NodeContext, node: ast.stmt, block_lines: StatementLines
) -> Iterator[TextEdit]:
    inner = _find_last_body(node)
    last = find_statement_lines(context, inner[-1]) if len(inner) > 1 else None
    if last is not None and last.end == block_lines.end:
        text = last.reindent(last.indent, block_lines.indent)
        cost = 1.6 if isinstance(inner[-1], ast.Return) else 1.9
        yield context.replace_span(last.start, last.end, text, "moved out of the block", cost)


def _find_last_body(node: ast.stmt) -> list[ast.stmt]:
    """Of a block, its last body."""
    other: list[ast.stmt] = getattr(node, "orelse", [])
    body: list[ast.stmt] = getattr(node, "body", [])
    return other or body


def _move_into(
    context: NodeContext, node: ast.stmt, block_lines: StatementLines, following: ast.stmt
) -> Iterator[TextEdit]:
    then = find_statement_lines(context, following)
    inner = _find_last_body(node)
    last = find_statement_lines(context, inner[-1])
    if then is None or last is None or last.end != block_lines.end or is_jump_statement(inner[-1]):
        return
    between = context.source.text[block_lines.end : then.start]
    if between.strip():
        return
    text = then.reindent(then.indent, last.indent)
    yield context.replace_span(block_lines.end, then.end, text, "moved into the block", 2.0)
    if isinstance(inner[-1], _COMPOUND_STATEMENTS) and (
        deep := find_statement_lines(context, _find_last_body(inner[-1])[-1])
    ):
        text = then.reindent(then.indent, deep.indent)
        yield context.replace_span(block_lines.end, then.end, text, "moved into the block", 2.2)


def swap_statements(context: NodeContext) -> Iterator[TextEdit]:
    """Two neighbours in the other order."""
    node = context.node
    body = find_containing_body(context) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or isinstance(node, _DEFINITIONS):
        return
    at = next(n for n, item in enumerate(body) if item is node)
    if at + 1 >= len(body) or isinstance(body[at + 1], (*_DEFINITIONS, ast.Return)):
        return
    first, second = find_statement_lines(context, node), find_statement_lines(context, body[at + 1])
    if first is None or second is None or not first.text.endswith("\n"):
        return
    between = context.source.text[first.end : second.start]
    tail = second.text if second.text.endswith("\n") else second.text + "\n"
    text = tail + between + first.text
    yield context.replace_span(first.start, second.end, text, "swapped statements", 1.8)


def delete_statement(context: NodeContext) -> Iterator[TextEdit]:
    """A statement gone, or a block without its head."""
    node = context.node
    body = find_containing_body(context) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or isinstance(node, _DEFINITIONS):
        return
    here = find_statement_lines(context, node)
    if here is None:
        return
    if len(body) > 1:
        yield context.replace_span(here.start, here.end, "", "statement left out", 3.0)
    if isinstance(node, _COMPOUND_STATEMENTS) and not getattr(node, "orelse", None):
        first = find_statement_lines(context, node.body[0])
        last = find_statement_lines(context, node.body[-1])
        if first is not None and last is not None:
            inner = StatementLines(
                first.start, last.end, first.indent, context.source.text[first.start : last.end]
            )
            text = inner.reindent(first.indent, here.indent)
            yield context.replace_span(here.start, here.end, text, "block without its head", 3.2)


def replace_control_flow(context: NodeContext) -> Iterator[TextEdit]:
    """`break` and `continue` for each other; `if` and `while`; `if` and `elif`; `return`, `yield`."""
    node = context.node
    if isinstance(node, ast.Break):
        yield context.replace_node(node, "continue", "loop", 1.3)
        yield context.replace_node(node, "return", "loop", 2.6)
    elif isinstance(node, ast.Continue):
        yield context.replace_node(node, "break", "loop", 1.3)
    elif isinstance(node, (ast.If, ast.While)):
        start = context.source.span(node)[0]
        word = "if" if isinstance(node, ast.If) else "while"
        if context.source.text.startswith(word, start):
            other = "while" if word == "if" else "if"
            if word == "while" or not node.orelse:
                yield context.replace_span(start, start + len(word), other, "loop", 2.4)
            yield from _join_elif(context, start, word)
    elif isinstance(node, ast.Return) and node.value is not None:
        start = context.source.span(node)[0]
        yield context.replace_span(start, start + len("return"), "yield", "yield", 3.2)
    elif isinstance(node, ast.Yield) and node.value is not None:
        yield context.replace_node(node, f"yield from {context.text(node.value)}", "yield", 1.6)
    elif isinstance(node, ast.YieldFrom):
        yield context.replace_node(node, f"yield {context.text(node.value)}", "yield", 1.6)


def _join_elif(context: NodeContext, start: int, keyword: str) -> Iterator[TextEdit]:
    """An `if` behind an `if` becomes `elif`."""
    body = find_containing_body(context)
    if keyword == "if" and body is not None:
        at = next(n for n, item in enumerate(body) if item is context.node)
        if at and isinstance(body[at - 1], ast.If):
            yield context.replace_span(start, start + len(keyword), "elif", "elif", 2.0)


def swap_if_bodies(context: NodeContext) -> Iterator[TextEdit]:
    """`if` and `else` with each other's statements."""
    node = context.node
    if not isinstance(node, ast.If) or not node.orelse:
        return
    first, last = find_statement_lines(context, node.body[0]), find_statement_lines(
        context, node.body[-1]
    )
    third, fourth = find_statement_lines(context, node.orelse[0]), find_statement_lines(
        context, node.orelse[-1]
    )
    if not (first and last and third and fourth) or first.indent != third.indent:
        return
    whole = context.source.text
    body, middle = whole[first.start : last.end], whole[last.end : third.start]
    other = whole[third.start : fourth.end]
    other += "" if other.endswith("\n") else "\n"
    yield context.replace_span(
        first.start, fourth.end, other + middle + body, "swapped branches", 1.8
    )


__all__ = [
    "INDENT_STEP",
    "delete_statement",
    "move_statement",
    "replace_control_flow",
    "swap_if_bodies",
    "swap_statements",
]
