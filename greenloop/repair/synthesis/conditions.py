"""Operators that build conditions."""

from __future__ import annotations

import ast
from itertools import chain

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.operators.blocks import find_statement_lines
from greenloop.repair.synthesis.places import is_value, put_expression
from greenloop.repair.synthesis.vocabulary import (
    CONSTANTS,
    MAX_PREMISES,
    choose_facts,
    iterate_comparisons,
    iterate_facts,
    list_variables,
)
from greenloop.syntax.operators import edit_operator

SimpleStatement = (
    ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Raise | ast.Break | ast.Continue
)


@edit_operator()
def change_condition(context: RepairContext, node: ast.expr) -> Edits:
    """Build a condition of comparisons and variables, or add one to it."""
    is_truth = isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, bool)
    )
    is_answer = isinstance(context.parent, ast.Return) and is_truth
    if not (context.is_condition or is_answer) or context.scope.function is None:
        return
    text = context.text(node) if not isinstance(node, ast.BoolOp) else f"({context.text(node)})"
    parts = chain(
        ((fact, 0.4 + cost) for fact, cost in iterate_facts(context.scope)),
        ((fact, 1.0 + cost) for fact, cost in iterate_comparisons(context.scope)),
    )
    for fact, cost in parts:
        yield context.edit(node, fact, "condition", 3.0 + cost)
        if isinstance(node, ast.Constant):
            continue
        for word in ("and", "or"):
            yield context.edit(node, f"({fact} {word} {text})", "condition", 3.2 + cost)
            yield context.edit(node, f"({text} {word} {fact})", "condition", 3.3 + cost)


@edit_operator()
def make_conditional(context: RepairContext, node: ast.expr) -> Edits:
    """Use an expression only where a condition holds, and a variable or constant elsewhere."""
    slots = (ast.Return, ast.Assign, ast.AugAssign, ast.ListComp, ast.GeneratorExp)
    if not is_value(context, node) or not isinstance(context.parent, slots):
        return
    if isinstance(node, (ast.Constant, ast.IfExp)) or context.is_field("generators"):
        return
    text = context.text(node)
    for fact, cost in choose_facts(context.scope, text):
        for other in (*list_variables(context.scope), *CONSTANTS):
            if other != text:
                choice = f"{text} if {fact} else {other}"
                yield put_expression(context, node, choice, "condition", 4.4 + cost)


@edit_operator()
def restrict_statement(context: RepairContext, node: SimpleStatement) -> Edits:
    """Execute a statement only where a condition holds."""
    lines = find_statement_lines(context, node)
    if lines is None or context.scope.function is None:
        return
    body = lines.reindent(lines.indent, f"{lines.indent}    ")
    for fact, cost in choose_facts(context.scope, lines.text, MAX_PREMISES):
        text = f"{lines.indent}if {fact}:\n{body}"
        yield context.edit_span(lines.start, lines.end, text, "condition", 4.0 + cost)


@edit_operator()
def filter_items(context: RepairContext, node: ast.comprehension) -> Edits:
    """Add a condition to a comprehension that has none."""
    if node.ifs or context.scope.function is None:
        return
    end = context.source.span(node.iter)[1]
    for fact, cost in chain(iterate_facts(context.scope), iterate_comparisons(context.scope)):
        yield context.edit_span(end, end, f" if {fact}", "filter", 3.8 + cost)
