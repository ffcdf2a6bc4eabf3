"""Places of expressions, and edits that put another expression there."""

from __future__ import annotations

import ast

from greenloop.repair.context import CandidateEdit, RepairContext

ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)


def put_expression(
    context: RepairContext, node: ast.expr, text: str, kind: str, cost: float
) -> CandidateEdit:
    """Return the edit that puts an expression in a node's place, in parentheses if in doubt."""
    needs_none = context.replacement_text(node) == context.text(node) and not isinstance(
        node, ATOMS
    )
    is_free = isinstance(context.parent, (ast.Return, ast.Assign, ast.If, ast.While))
    simple = text.isidentifier() or needs_none or is_free or text.endswith((")", "]"))
    return context.edit(node, text if simple else f"({text})", kind, cost)


def is_value(context: RepairContext, node: ast.expr) -> bool:
    """Return whether a node is an expression that another one can replace."""
    if context.is_stored or context.is_field("func") or context.scope.function is None:
        return False
    parents = (ast.Expr, ast.JoinedStr, ast.FormattedValue)
    is_no_value = isinstance(node, (ast.Slice, ast.Starred, ast.Lambda))
    return not is_no_value and not isinstance(context.parent, parents)
