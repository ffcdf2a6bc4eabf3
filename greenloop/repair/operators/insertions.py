"""A missing statement: one as there are others in the module, or a usual one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext
from greenloop.repair.operators.blocks import (
    find_containing_body,
    find_statement_lines,
    insert_after,
    insert_before,
    is_jump_statement,
)
from greenloop.repair.scope import FunctionNode
from greenloop.syntax.edit import TextEdit

_INITIAL_VALUES = ("0", "[]", "{}", "None", "set()", '""')


def insert_statement(context: NodeContext) -> Iterator[TextEdit]:
    """Before each statement, and at the end of each body."""
    node = context.node
    body = find_containing_body(context) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or context.scope.function is None:
        return
    here = find_statement_lines(context, node)
    if here is None or isinstance(node, FunctionNode):
        return
    last = node is body[-1] and not is_jump_statement(node)
    for line, cost in _candidate_lines(context):
        yield insert_before(context, here, line, "missing statement", cost)
        if last:
            yield insert_after(context, here, line, "missing statement", cost)
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in context.ancestors)
    if last and in_loop and here.end:
        for line in ("break", "continue"):
            yield insert_after(context, here, line, "missing statement", 2.6)


def _candidate_lines(context: NodeContext) -> Iterator[tuple[str, float]]:
    """Statements that use what is at hand here."""
    seen: set[str] = set()
    for line, cost in (*_donor_statements(context), *_common_statements(context)):
        if line not in seen:
            seen.add(line)
            yield line, cost


def _donor_statements(context: NodeContext) -> list[tuple[str, float]]:
    """Simple statements of the module, those of the same function first."""
    own = [(line, 2.8) for line in context.scope.function_statements]
    return [*own, *((line, 3.1) for line in context.scope.module_statements)]


def _common_statements(context: NodeContext) -> Iterator[tuple[str, float]]:
    scope = context.scope
    for name in scope.variables:
        roles = scope.roles.get(name, frozenset())
        if name in scope.integer_variables or roles & {"operand", "AugAssign target"}:
            near = 2.0 if context.hints.has_timeout else 2.8
            yield f"{name} += 1", near if name in scope.integer_variables else 2.8
            yield f"{name} -= 1", 2.9
        for call in ("append", "add"):
            if f".{call}" in roles:
                for other in scope.names:
                    if other != name:
                        yield f"{name}.{call}({other})", 3.0
        for call in ("pop()", "clear()"):
            if roles & {".pop", ".append", ".clear"}:
                yield f"{name}.{call}", 3.0
        for other in scope.names:
            if other != name and scope.has_common_role(name, other):
                yield f"{name} = {other}", 3.0


def append_return(context: NodeContext) -> Iterator[TextEdit]:
    """A function that ends without `return`."""
    node = context.node
    if not isinstance(node, FunctionNode) or is_jump_statement(node.body[-1]):
        return
    here = find_statement_lines(context, node.body[-1])
    if here is None:
        return
    names = [*context.scope.names, context.scope.self_name, *context.scope.attributes]
    for name in (*names, *context.hints.expected_values, "True", "False", "None"):
        if name:
            cost = 1.8 if name in context.scope.names or name == context.scope.self_name else 2.4
            yield insert_after(context, here, f"return {name}", "missing return", cost)
    last = node.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        yield context.replace_node(last, f"return {context.text(last)}", "missing return", 1.4)


def insert_initialization(context: NodeContext) -> Iterator[TextEdit]:
    """A variable or attribute that is read and was never set."""
    node = context.node
    if not isinstance(node, ast.stmt) or not isinstance(context.parent, FunctionNode):
        return
    if not any(
        name in ("UnboundLocalError", "NameError", "AttributeError")
        for _, name in context.hints.crashes
    ):
        return
    here = find_statement_lines(context, node)
    if here is None:
        return
    for name in context.scope.variables:
        for value in (*_INITIAL_VALUES, *context.scope.parameters):
            if value != name:
                yield insert_before(context, here, f"{name} = {value}", "missing start", 2.3)
