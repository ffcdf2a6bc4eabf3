"""Repair operators, and all edits of a module that they propose."""

import ast
from collections.abc import Callable

from greenloop.repair.context import CandidateEdit, Edits, RepairContext
from greenloop.repair.hints import Hints
from greenloop.repair.operators import (
    calls,
    constants,
    expressions,
    guards,
    insertions,
    names,
    returns_and_raises,
    statements,
    subscripts_and_ranges,
)
from greenloop.repair.scope import ModuleParts, NameScope, build_scope
from greenloop.syntax.nodes import Function, NodeContext, walk_editable_nodes
from greenloop.syntax.operators import FIXES
from greenloop.syntax.operators.protocol import Operator, list_operators
from greenloop.syntax.source import Source

# Applied in this order.
OPERATORS: tuple[Operator[CandidateEdit], ...] = list_operators(
    *(expressions, constants, names, calls, subscripts_and_ranges),
    *(returns_and_raises, statements, guards, insertions),
)


def generate_edits(
    tree: ast.Module,
    source: Source,
    hints: Hints,
    score_line: Callable[[int], float] = lambda line: 1.0,
) -> Edits:
    """Yield the edits of nodes on suspicious lines, the most suspicious lines first.

    Several edits may give the same text.
    """
    scopes, parts = dict[ast.AST, NameScope](), ModuleParts(tree)

    def score(item: NodeContext) -> float:
        line = getattr(item.node, "lineno", 0)
        return score_line(line) if line else 1.0

    nodes = [item for item in walk_editable_nodes(tree, source) if score(item) > 0]
    for item in sorted(nodes, key=score, reverse=True):
        enclosing_class, function = _find_enclosing(item)
        owner = function or tree
        if owner not in scopes:
            scopes[owner] = build_scope(parts, function, enclosing_class)
        ancestors = item.ancestors or (tree,)
        context = RepairContext(item.node, source, ancestors, item.function, scopes[owner], hints)
        for fix in FIXES:
            for edit in fix.apply(context):
                yield context.edit_span(edit.start, edit.end, edit.text, fix.name, fix.cost)
        for operator in OPERATORS:
            yield from operator.apply(context)


def _find_enclosing(context: NodeContext) -> tuple[ast.ClassDef | None, Function | None]:
    """Return the outermost function that holds a node, and the class whose method it is."""
    enclosing_class: ast.ClassDef | None = None
    for item in (*context.ancestors, context.node):
        if isinstance(item, ast.ClassDef):
            enclosing_class = item
        elif isinstance(item, Function):
            return enclosing_class, item
    return enclosing_class, None
