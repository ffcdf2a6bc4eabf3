"""Missing guards: an early way out, a condition that comes first, a value for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext
from greenloop.repair.operators.blocks import (
    StatementLines,
    find_containing_body,
    find_statement_lines,
    insert_before,
)
from greenloop.repair.scope import FunctionNode
from greenloop.syntax.edit import TextEdit

_RETURN_VALUES = ("None", "0", "[]", "False", "True", '""', "1", "{}", "-1", "0.0")
_MAX_RETURN_VALUES = 7


def insert_early_exit(context: NodeContext) -> Iterator[TextEdit]:
    """`if not x: return …` at the head of a function; `raise …` where a test missed an exception."""
    node, scope = context.node, context.scope
    if not isinstance(node, ast.stmt) or not isinstance(context.parent, FunctionNode):
        return
    body = context.parent.body
    with_text = ast.get_docstring(context.parent, clean=False) is not None
    if node is not (body[1] if with_text and len(body) > 1 else body[0]):
        return
    here = find_statement_lines(context, node)
    if here is None:
        return
    for name in (*scope.parameters, *scope.attributes):
        for number, condition in enumerate(_build_empty_conditions(name)):
            cost = 2.6 + 0.2 * number + (0 if name in scope.parameters else 0.3)
            yield from _insert_exits(context, here, condition, cost, scope.parameters)


def _build_empty_conditions(name: str) -> tuple[str, ...]:
    return (f"not {name}", f"{name} is None", f"{name} == 0", f"{name} < 0", f"{name} <= 1")


def _insert_exits(
    context: NodeContext,
    anchor: StatementLines,
    condition: str,
    cost: float,
    names: tuple[str, ...],
) -> Iterator[TextEdit]:
    for name in context.hints.expected_exceptions:
        line = f'if {condition}:\n    raise {name}("{condition}")'
        yield insert_before(context, anchor, line, "guard", cost - 0.2)
    if (
        context.hints.expected_exceptions
        and not context.hints.crashes
        and not context.hints.expected_values
    ):
        return
    results = dict.fromkeys((*context.hints.expected_values, *_RETURN_VALUES))
    for number, result in enumerate([*list(results)[:_MAX_RETURN_VALUES], *names]):
        expected = result in context.hints.expected_values
        more = 0.0 if expected else 0.4 + 0.05 * number
        yield insert_before(
            context, anchor, f"if {condition}:\n    return {result}", "guard", cost + more
        )


def insert_crash_guard(context: NodeContext) -> Iterator[TextEdit]:
    """A guard before the statement in which an exception came up that no test wants."""
    node = context.node
    if not isinstance(node, ast.stmt) or find_containing_body(context) is None:
        return
    names = {name for line, name in context.hints.crashes if _contains_line(node, line)}
    here = (
        find_statement_lines(context, node)
        if names and not isinstance(node, FunctionNode)
        else None
    )
    if here is None:
        return
    for condition in dict.fromkeys(_find_crash_conditions(context, node, names)):
        yield from _insert_exits(context, here, condition, 2.0, ())
        yield insert_before(context, here, f"if {condition}:\n    continue", "guard", 2.7)
        yield insert_before(context, here, f"if {condition}:\n    break", "guard", 2.8)


def _contains_line(node: ast.stmt, line: int) -> bool:
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
    return node.lineno <= line <= max(node.lineno, last or 0)


def _find_crash_conditions(context: NodeContext, node: ast.stmt, names: set[str]) -> Iterator[str]:
    """Conditions under which what stands in a statement fails in that way."""
    for item in _walk_head(node):
        if (
            "ZeroDivisionError" in names
            and isinstance(item, ast.BinOp)
            and isinstance(item.op, (ast.Div, ast.FloorDiv, ast.Mod))
        ):
            if isinstance(item.right, ast.Call) and context.text(item.right.func) == "len":
                yield f"not {context.text(item.right.args[0])}"
            else:
                yield f"{context.parenthesized_text(item.right)} == 0"
        if isinstance(item, ast.Subscript) and names & {"IndexError", "KeyError"}:
            yield f"not {context.parenthesized_text(item.value)}"
            yield f"{context.text(item.slice)} not in {context.parenthesized_text(item.value)}"
            yield f"{context.text(item.slice)} >= len({context.text(item.value)})"
        if isinstance(item, ast.Attribute) and names & {"AttributeError"}:
            yield f"{context.parenthesized_text(item.value)} is None"
        if isinstance(item, ast.Call) and names & {"ValueError", "IndexError", "StatisticsError"}:
            for argument in item.args[:1]:
                if isinstance(argument, (ast.Name, ast.Attribute)):
                    yield f"not {context.text(argument)}"
            if isinstance(item.func, ast.Attribute) and not item.args:
                yield f"not {context.parenthesized_text(item.func.value)}"
        if isinstance(item, ast.Name) and names & {"TypeError"} and isinstance(item.ctx, ast.Load):
            yield f"{item.id} is None"


def _walk_head(node: ast.stmt) -> Iterator[ast.AST]:
    """Of a compound statement only its head."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


def extend_condition(context: NodeContext) -> Iterator[TextEdit]:
    """`c` becomes `known and c` or `known or c`: what a crash shows, or another condition here."""
    node, parent = context.node, context.parent
    if not isinstance(node, ast.expr) or isinstance(node, ast.BoolOp):
        return
    test = isinstance(parent, (ast.If, ast.While, ast.IfExp)) and context.is_field("test")
    if not (test or (isinstance(parent, ast.comprehension) and node in parent.ifs)):
        return
    text = (
        context.parenthesized_text(node)
        if not isinstance(node, ast.Compare)
        else context.text(node)
    )
    for item in ast.walk(node):
        if isinstance(item, ast.Subscript) and not isinstance(item.slice, ast.Slice):
            base, index = context.text(item.value), context.text(item.slice)
            yield context.replace_node(node, f"{index} < len({base}) and {text}", "condition", 2.0)
            yield context.replace_node(node, f"{base} and {text}", "condition", 2.0)
            yield context.replace_node(node, f"{index} in {base} and {text}", "condition", 2.4)
        elif isinstance(item, ast.Attribute):
            yield context.replace_node(
                node, f"{context.text(item.value)} and {text}", "condition", 2.6
            )
    for name in context.scope.variables:
        yield context.replace_node(node, f"{name} and {text}", "condition", 2.9)
        yield context.replace_node(node, f"not {name} or {text}", "condition", 3.1)
        yield context.replace_node(node, f"{name} is None or {text}", "condition", 2.9)
    for other in context.scope.conditions:
        if other != text:
            yield context.replace_node(node, f"{other} and {text}", "condition", 3.0)
            yield context.replace_node(node, f"{other} or {text}", "condition", 3.1)


def add_fallback_value(context: NodeContext) -> Iterator[TextEdit]:
    """`x` becomes `x or …` or `x if y else …`; `max(x)` gets a default."""
    node, parent = context.node, context.parent
    if isinstance(node, ast.Call) and context.text(node.func) in ("min", "max"):
        inner = ", ".join([*map(context.text, node.args), *_format_keywords(context, node)])
        for value in ("0", "None") if len(node.args) == 1 else ():
            text = f"{context.text(node.func)}({inner}, default={value})"
            yield context.replace_node(node, text, "default", 2.2)
    if not isinstance(node, ast.expr) or not isinstance(parent, (ast.Assign, ast.Return)):
        return
    if not context.is_field("value") or isinstance(node, (ast.Constant, ast.IfExp)):
        return
    for value in (*context.hints.expected_values[:2], "[]", "0", "None", "{}"):
        yield context.replace_node(
            node, f"{context.parenthesized_text(node)} or {value}", "default", 2.9
        )
        for name in context.scope.parameters:
            text = f"{context.text(node)} if {name} else {value}"
            yield context.replace_node(node, text, "default", 2.9)


def _format_keywords(context: NodeContext, node: ast.Call) -> list[str]:
    return [f"{item.arg}={context.text(item.value)}" for item in node.keywords if item.arg]
