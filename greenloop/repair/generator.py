"""All edits of a module that are worth a try, each once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext, Operator
from greenloop.repair.hints import Hints
from greenloop.repair.operators import (
    calls,
    constants,
    expressions,
    guards,
    insertions,
    names,
    returns_and_raises,
    slices_and_ranges,
    statements,
)
from greenloop.repair.scope import FunctionNode, NameScope, build_scope
from greenloop.syntax.edit import TextEdit
from greenloop.syntax.nodes import NodeLocation, walk_mutable_nodes
from greenloop.syntax.source import Source

_OPERATORS: tuple[Operator, ...] = (
    expressions.replace_comparison,
    expressions.replace_arithmetic,
    expressions.replace_boolean_operator,
    expressions.negate_condition,
    expressions.negate_number,
    expressions.replace_assignment_operator,
    constants.replace_constant,
    constants.shift_by_one,
    names.replace_variable,
    names.replace_attribute,
    names.replace_called_function,
    names.add_missing_self,
    names.change_arguments,
    calls.replace_callee,
    calls.unwrap_call,
    calls.wrap_in_call,
    calls.convert_value,
    slices_and_ranges.change_slice,
    slices_and_ranges.change_subscript,
    slices_and_ranges.change_range,
    slices_and_ranges.change_comprehension,
    returns_and_raises.replace_return_value,
    returns_and_raises.replace_exception,
    returns_and_raises.fix_mutable_default,
    returns_and_raises.change_conditional_expression,
    returns_and_raises.replace_expression,
    statements.move_statement,
    statements.swap_statements,
    statements.delete_statement,
    statements.replace_control_flow,
    statements.swap_if_bodies,
    guards.insert_early_exit,
    guards.insert_crash_guard,
    guards.extend_condition,
    guards.add_fallback_value,
    insertions.insert_statement,
    insertions.append_return,
    insertions.insert_initialization,
)


def generate_edits(tree: ast.Module, source: Source, hints: Hints) -> Iterator[TextEdit]:
    """In the order of the text; of several that make the same text the cheapest."""
    scopes: dict[ast.AST, NameScope] = {}
    for node, place in walk_mutable_nodes(tree, source):
        around, function = _find_enclosing(node, place)
        owner = function or tree
        if owner not in scopes:
            scopes[owner] = build_scope(tree, function, around)
        ancestors = place.ancestors or (tree,)
        spot = NodeContext(node, ancestors, source, scopes[owner], hints)
        for operator in _OPERATORS:
            yield from operator(spot)


def _find_enclosing(
    node: ast.AST, place: NodeLocation
) -> tuple[ast.ClassDef | None, FunctionNode | None]:
    """The outermost function that holds a node, and the class whose method it is."""
    around: ast.ClassDef | None = None
    for item in (*place.ancestors, node):
        if isinstance(item, ast.ClassDef):
            around = item
        elif isinstance(item, FunctionNode):
            return around, item
    return around, None
