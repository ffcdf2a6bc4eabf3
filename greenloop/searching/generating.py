"""All edits of a module that are worth a try, each once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.grading.mutants.mutant import Place
from greenloop.grading.mutants.places import places
from greenloop.grading.mutants.text import Source
from greenloop.searching.edit import Edit
from greenloop.searching.hints import Hints
from greenloop.searching.operators import (
    additions,
    bounds,
    calls,
    constants,
    guards,
    names,
    outcomes,
    signs,
    statements,
)
from greenloop.searching.scope import Function, Scope, scope_of
from greenloop.searching.spot import Operator, Spot

_OPERATORS: tuple[Operator, ...] = (
    signs.comparison,
    signs.arithmetic,
    signs.boolean,
    signs.negation,
    signs.minus,
    signs.augmented,
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
    bounds.sliced,
    bounds.subscript,
    bounds.ranged,
    bounds.comprehension,
    outcomes.returned,
    outcomes.exception,
    outcomes.default,
    outcomes.branches,
    outcomes.expression,
    statements.moved,
    statements.swapped,
    statements.left_out,
    statements.loop_control,
    statements.swapped_bodies,
    guards.early_way_out,
    guards.crash,
    guards.conditioned,
    guards.instead,
    additions.statement,
    additions.last_return,
    additions.initial,
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
