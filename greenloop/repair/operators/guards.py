"""Operators for missing guards: early exits, additional conditions, fallback values."""

import ast
from collections.abc import Iterator

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.operators.blocks import (
    StatementLines,
    find_containing_body,
    find_statement_lines,
    insert_before,
)
from greenloop.syntax.nodes import Function, list_header_lines
from greenloop.syntax.operators.protocol import edit_operator

_RETURN_VALUES = ("None", "0", "[]", "False", "True", '""', "1", "{}", "-1", "0.0")
_MAX_RETURN_VALUES = 7


@edit_operator()
def insert_early_exit(context: RepairContext, node: ast.stmt) -> Edits:
    """Insert `if not x: return …` at a function's start; `raise …` if an exception is missing."""
    scope = context.scope
    if not isinstance(context.parent, Function):
        return
    body = context.parent.body
    has_docstring = ast.get_docstring(context.parent, clean=False) is not None
    lines = find_statement_lines(context, node)
    if node is not body[1 if has_docstring and len(body) > 1 else 0] or lines is None:
        return
    for name in (*scope.parameters, *scope.attributes):
        conditions = ("not {}", "{} is None", "{} == 0", "{} < 0", "{} <= 1")
        for number, condition in enumerate(item.format(name) for item in conditions):
            cost = 2.6 + 0.2 * number + (0 if name in scope.parameters else 0.3)
            yield from _insert_exits(context, lines, condition, cost, scope.parameters)


def _insert_exits(
    context: RepairContext,
    anchor: StatementLines,
    condition: str,
    cost: float,
    names: tuple[str, ...],
) -> Edits:
    hints = context.hints
    for name in hints.expected_exceptions:
        line = f'if {condition}:\n    raise {name}("{condition}")'
        yield insert_before(context, anchor, line, "guard", cost - 0.2)
    if hints.expected_exceptions and not hints.crashes and not hints.expected_values:
        return
    own = _list_returned_constants(context)
    results = dict.fromkeys((*hints.expected_values, *own, *_RETURN_VALUES))
    for number, result in enumerate([*list(results)[:_MAX_RETURN_VALUES], *names]):
        extra = 0.0 if result in hints.expected_values else 0.4 + 0.05 * number
        extra -= 0.2 * (result in own)
        line = f"if {condition}:\n    return {result}"
        yield insert_before(context, anchor, line, "guard", cost + extra)


def _list_returned_constants(context: RepairContext) -> list[str]:
    """Return the constants that the function returns elsewhere."""
    nodes = ast.walk(context.scope.function) if context.scope.function else ()
    returned = (node.value for node in nodes if isinstance(node, ast.Return))
    constants = (ast.unparse(item) for item in returned if isinstance(item, ast.Constant))
    return list(dict.fromkeys(constants))


@edit_operator()
def insert_crash_guard(context: RepairContext, node: ast.stmt) -> Edits:
    """Insert a guard before the statement that raised an exception that no test expects."""
    header = list_header_lines(node)
    names = {name for line, name in context.hints.crashes if line in header}
    if not names or isinstance(node, Function) or find_containing_body(context) is None:
        return
    lines = find_statement_lines(context, node)
    if lines is None:
        return
    for condition in dict.fromkeys(_find_crash_conditions(context, node, names)):
        yield from _insert_exits(context, lines, condition, 2.0, ())
        yield insert_before(context, lines, f"if {condition}:\n    continue", "guard", 2.7)
        yield insert_before(context, lines, f"if {condition}:\n    break", "guard", 2.8)


def _find_crash_conditions(
    context: RepairContext, node: ast.stmt, names: set[str]
) -> Iterator[str]:
    """Yield the conditions under which a part of a statement raises one of these exceptions."""
    text, operand = context.text, context.get_parenthesized_text
    for item in _walk_head(node):
        if isinstance(item, ast.BinOp) and "ZeroDivisionError" in names:
            right = item.right
            if isinstance(right, ast.Call) and text(right.func) == "len" and right.args:
                condition = f"not {text(right.args[0])}"
            else:
                condition = f"{operand(item.right)} == 0"
            if isinstance(item.op, (ast.Div, ast.FloorDiv, ast.Mod)):
                yield condition
        elif isinstance(item, ast.Subscript) and names & {"IndexError", "KeyError"}:
            yield f"not {operand(item.value)}"
            yield f"{text(item.slice)} not in {operand(item.value)}"
            yield f"{text(item.slice)} >= len({text(item.value)})"
        elif isinstance(item, ast.Attribute) and "AttributeError" in names:
            yield f"{operand(item.value)} is None"
        elif isinstance(item, ast.Call) and names & {"ValueError", "IndexError", "StatisticsError"}:
            if item.args and isinstance(item.args[0], (ast.Name, ast.Attribute)):
                yield f"not {text(item.args[0])}"
            if isinstance(item.func, ast.Attribute) and not item.args:
                yield f"not {operand(item.func.value)}"
        elif isinstance(item, ast.Name) and "TypeError" in names and isinstance(item.ctx, ast.Load):
            yield f"{item.id} is None"


def _walk_head(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement; of a compound one, those of its header."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


@edit_operator()
def extend_condition(context: RepairContext, node: ast.expr) -> Edits:
    """Replace the condition `c` by `guard and c` or `guard or c`."""
    if isinstance(node, ast.BoolOp) or not context.is_condition:
        return
    is_comparison = isinstance(node, ast.Compare)
    text = context.text(node) if is_comparison else context.get_parenthesized_text(node)
    crashed = any(line in list_header_lines(node) for line, _ in context.hints.crashes)
    for guard, cost in _find_guards(context, node):
        cost -= 0.3 * crashed
        yield context.edit(node, f"{guard} and {text}", "condition", cost)
        yield context.edit(node, f"{_negate(guard)} or {text}", "condition", cost + 0.1)
    for name in context.scope.variables:
        yield context.edit(node, f"{name} and {text}", "condition", 2.9)
        yield context.edit(node, f"not {name} or {text}", "condition", 3.1)
        yield context.edit(node, f"{name} is None or {text}", "condition", 2.9)
    for other in (*context.scope.conditions, *context.scope.negated_conditions):
        if other != text:
            yield context.edit(node, f"{other} and {text}", "condition", 2.8)
            yield context.edit(node, f"{other} or {text}", "condition", 2.9)


def _negate(condition: str) -> str:
    for sign, opposite in ((" < ", " >= "), (" in ", " not in ")):
        if sign in condition:
            return condition.replace(sign, opposite)
    return f"not {condition}"


def _find_guards(context: RepairContext, node: ast.expr) -> Iterator[tuple[str, float]]:
    """Yield conditions under which the subscripts and attributes of a condition do not raise."""
    for item in ast.walk(node):
        if isinstance(item, ast.Subscript) and not isinstance(item.slice, ast.Slice):
            base, index = context.text(item.value), context.text(item.slice)
            yield from ((f"{index} < len({base})", 2.0), (base, 2.0), (f"{index} in {base}", 2.4))
        elif isinstance(item, ast.Attribute):
            yield context.text(item.value), 2.6
