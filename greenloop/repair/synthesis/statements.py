"""Operators that insert statements built from what is in scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain, islice, permutations

from greenloop.repair.context import Edits, RepairContext
from greenloop.repair.operators.blocks import find_insertion_place, insert_around, insert_before
from greenloop.repair.scope import NameScope
from greenloop.repair.synthesis.vocabulary import (
    MAX_FACTS,
    iterate_comparisons,
    iterate_facts,
    list_containers,
    list_numbers,
    list_variables,
    rename_texts,
)
from greenloop.syntax.operators import edit_operator


@edit_operator()
def build_statement(context: RepairContext, node: ast.stmt) -> Edits:
    """Insert a statement that is built from what is in scope."""
    if place := find_insertion_place(context, node):
        yield from insert_around(context, place, _statements(context.scope), "statement")


def _statements(scope: NameScope) -> Iterator[tuple[str, float]]:
    names = list_variables(scope)
    stored = [name for name in names if name in scope.variables]
    for one, other in permutations(names, 2):
        if one not in stored:
            continue
        cost = 3.3 if scope.is_container(one) else 4.4
        yield from ((f"{one}.{method}({other})", cost) for method in ("append", "add"))
        yield f"{one} = {other}", 4.0
        yield from ((f"{one} {sign} {other}", 4.6) for sign in ("+=", "-="))
    containers = list_containers(scope)
    for name in containers:
        donors = [text for text in scope.donors if not text.isidentifier() and name not in text]
        yield from (
            (f"{name}.{call}({text})", 3.9) for text in donors for call in ("append", "add")
        )
    for name in list_numbers(scope)[:6]:
        yield from (
            (f"{name} {sign} len({item})", 4.4) for item in containers for sign in ("%=", "-=")
        )
    for name in scope.parameters:
        yield from ((f"{name} = {call}({name})", 4.2) for call in ("abs", "sorted", "list", "int"))
        yield from ((f"{name} = {name}.{call}()", 4.4) for call in ("lower", "strip", "copy"))
    yield from ((text, 4.0) for text in rename_texts(scope, scope.function_statements, 2))
    for name in stored:
        yield from ((f"{name} += 1", 3.8), (f"{name} -= 1", 4.0), (f"{name} = not {name}", 4.4))
        yield from ((f"{name} = {value}", 4.4) for value in ("0", "[]", "''"))


@edit_operator()
def build_guard(context: RepairContext, node: ast.stmt) -> Edits:
    """Leave a loop, an iteration or the function where a condition holds."""
    place, scope = find_insertion_place(context, node), context.scope
    if place is None:
        return
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in context.ancestors)
    results = ("True", "False", "0", "None", "[]", "''", "-1", *list_variables(scope))
    exits = [f"return {result}" for result in results]
    exits = [*(("continue", "break") if in_loop else ()), *exits]
    for fact, cost in islice(chain(iterate_facts(scope), iterate_comparisons(scope)), MAX_FACTS):
        for number, leave in enumerate(exits):
            text = f"if {fact}:\n    {leave}"
            yield insert_before(context, place[0], text, "statement", 4.8 + cost + 0.05 * number)
