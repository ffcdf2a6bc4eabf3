"""Operators that move and swap statements."""

import ast

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.operators.blocks import (
    StatementLines,
    find_containing_body,
    find_statement_lines,
    is_jump_statement,
)
from greenloop.syntax.nodes import Definition
from greenloop.syntax.operators.protocol import edit_operator

CompoundStatement = ast.For | ast.While | ast.AsyncFor | ast.If | ast.With


@edit_operator()
def move_statement(context: RepairContext, node: CompoundStatement) -> Edits:
    """Move the last statement of a block out of it, or the statement after the block into it."""
    body, lines = find_containing_body(context), find_statement_lines(context, node)
    if body is None or lines is None:
        return
    yield from _move_out(context, node, lines)
    index = body.index(node)
    if index + 1 < len(body) and not isinstance(body[index + 1], Definition):
        yield from _move_into(context, node, lines, body[index + 1])


def _move_out(
    context: RepairContext, node: CompoundStatement, block_lines: StatementLines
) -> Edits:
    body = _get_last_body(node)
    last = find_statement_lines(context, body[-1]) if len(body) > 1 else None
    if last is not None and last.end == block_lines.end:
        text = last.reindent(last.indent, block_lines.indent)
        cost = 1.6 if isinstance(body[-1], ast.Return) else 1.9
        yield context.edit_span(last.start, last.end, text, "moved out of the block", cost)


def _get_last_body(node: ast.stmt) -> list[ast.stmt]:
    """Return the last body of a compound statement."""
    orelse: list[ast.stmt] = getattr(node, "orelse", [])
    body: list[ast.stmt] = getattr(node, "body", [])
    return orelse or body


def _move_into(
    context: RepairContext, node: ast.stmt, block_lines: StatementLines, following: ast.stmt
) -> Edits:
    moved = find_statement_lines(context, following)
    body = _get_last_body(node)
    last = find_statement_lines(context, body[-1])
    if moved is None or last is None or last.end != block_lines.end or is_jump_statement(body[-1]):
        return
    if context.source.text[block_lines.end : moved.start].strip():
        return
    text = moved.reindent(moved.indent, last.indent)
    yield context.edit_span(block_lines.end, moved.end, text, "moved into the block", 2.0)
    if isinstance(body[-1], CompoundStatement):
        innermost = find_statement_lines(context, _get_last_body(body[-1])[-1])
        if innermost is not None:
            text = moved.reindent(moved.indent, innermost.indent)
            yield context.edit_span(block_lines.end, moved.end, text, "moved into the block", 2.2)


@edit_operator()
def swap_statements(context: RepairContext, node: ast.stmt) -> Edits:
    """Swap a statement with the next one."""
    body = find_containing_body(context)
    if body is None or isinstance(node, Definition) or node is body[-1]:
        return
    following = body[body.index(node) + 1]
    if isinstance(following, (Definition, ast.Return)):
        return
    first, second = find_statement_lines(context, node), find_statement_lines(context, following)
    if first is None or second is None or not first.text.endswith("\n"):
        return
    between = context.source.text[first.end : second.start]
    text = second.text.removesuffix("\n") + "\n" + between + first.text
    yield context.edit_span(first.start, second.end, text, "swapped statements", 1.8)
