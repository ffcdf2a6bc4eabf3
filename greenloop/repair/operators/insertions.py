"""Operators that insert a missing statement: a copy of another one, or a common one."""

import ast
from collections.abc import Iterator

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.operators.blocks import (
    find_containing_body,
    find_statement_lines,
    insert_after,
    insert_before,
    is_jump_statement,
)
from greenloop.syntax.nodes import Function
from greenloop.syntax.operators.protocol import edit_operator


@edit_operator()
def insert_statement(context: RepairContext, node: ast.stmt) -> Edits:
    """Insert a statement before each statement, and at the end of each body."""
    body, lines = find_containing_body(context), find_statement_lines(context, node)
    is_in_function = context.scope.function is not None and not isinstance(node, Function)
    if body is None or lines is None or not is_in_function:
        return
    is_last = node is body[-1] and not is_jump_statement(node)
    for text, cost in _candidate_lines(context):
        yield insert_before(context, lines, text, "missing statement", cost)
        if is_last:
            yield insert_after(context, lines, text, "missing statement", cost)
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in context.ancestors)
    if is_last and in_loop:
        for line in ("break", "continue"):
            yield insert_after(context, lines, line, "missing statement", 2.6)


def _candidate_lines(context: RepairContext) -> Iterator[tuple[str, float]]:
    """Yield statements that use the names in scope, each with its cost; the function's own first."""
    seen: set[str] = set()
    own = ((line, 2.8) for line in context.scope.function_statements)
    others = ((line, 3.1) for line in context.scope.module_statements)
    for line, cost in (*own, *others, *_common_statements(context)):
        if line not in seen:
            seen.add(line)
            yield line, cost


def _common_statements(context: RepairContext) -> Iterator[tuple[str, float]]:
    scope = context.scope
    for name in scope.variables:
        roles = scope.roles.get(name, frozenset())
        if name in scope.integer_variables or roles & {"operand", "AugAssign target"}:
            near = 2.0 if context.hints.has_timeout else 2.8
            yield f"{name} += 1", near if name in scope.integer_variables else 2.8
            yield f"{name} -= 1", 2.9
        for call in ("append", "add"):
            if f".{call}" in roles:
                for other in (*scope.names, *scope.donors):
                    if other != name:
                        is_simple = other.isidentifier() or other.startswith("(")
                        yield f"{name}.{call}({other})", 3.0 if is_simple else 3.3
        for call in ("pop()", "clear()"):
            if roles & {".pop", ".append", ".clear"}:
                yield f"{name}.{call}", 3.0
        for other in scope.names:
            if other != name and scope.has_common_role(name, other):
                yield f"{name} = {other}", 3.0


@edit_operator()
def append_return(context: RepairContext, node: Function) -> Edits:
    """Append `return …` to a function that ends without it."""
    scope, last = context.scope, node.body[-1]
    lines = None if is_jump_statement(last) else find_statement_lines(context, last)
    if lines is None:
        return
    names = [*scope.names, scope.self_name, *scope.attributes]
    for name in (*names, *context.hints.expected_values, "True", "False", "None"):
        if name:
            cost = 1.8 if name in scope.names or name == scope.self_name else 2.4
            yield insert_after(context, lines, f"return {name}", "missing return", cost)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        yield context.edit(last, f"return {context.text(last)}", "missing return", 1.4)
