"""All edits of a module that are worth a try, each once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Operator, Spot
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
from greenloop.repair.scope import Function, Scope, scope_of
from greenloop.syntax.edit import Edit
from greenloop.syntax.nodes import Place, places
from greenloop.syntax.source import Source

_OPERATORS: tuple[Operator, ...] = (
    expressions.comparison,
    expressions.arithmetic,
    expressions.boolean,
    expressions.negation,
    expressions.minus,
    expressions.augmented,
    constants.constant,
    constants.one_off,
    names.variable,
    names.attribute,
    names.method,
    names.missing_self,
    names.arguments,
    calls.family,
    calls.unwrapped,
    calls.wrapped,
    calls.converted,
    slices_and_ranges.sliced,
    slices_and_ranges.subscript,
    slices_and_ranges.ranged,
    slices_and_ranges.comprehension,
    returns_and_raises.returned,
    returns_and_raises.exception,
    returns_and_raises.default,
    returns_and_raises.branches,
    returns_and_raises.expression,
    statements.moved,
    statements.swapped,
    statements.left_out,
    statements.loop_control,
    statements.swapped_bodies,
    guards.early_way_out,
    guards.crash,
    guards.conditioned,
    guards.instead,
    insertions.statement,
    insertions.last_return,
    insertions.initial,
)


def edits(tree: ast.Module, source: Source, known: Hints) -> Iterator[Edit]:
    """In the order of the text; of several that make the same text the cheapest."""
    scopes: dict[ast.AST, Scope] = {}
    for node, place in places(tree, source):
        around, function = _around(node, place)
        owner = function or tree
        if owner not in scopes:
            scopes[owner] = scope_of(tree, function, around)
        ancestors = place.ancestors or (tree,)
        spot = Spot(node, ancestors, source, scopes[owner], known)
        for operator in _OPERATORS:
            yield from operator(spot)


def _around(node: ast.AST, place: Place) -> tuple[ast.ClassDef | None, Function | None]:
    """The outermost function that holds a node, and the class whose method it is."""
    around: ast.ClassDef | None = None
    for item in (*place.ancestors, node):
        if isinstance(item, ast.ClassDef):
            around = item
        elif isinstance(item, Function):
            return around, item
    return around, None
