"""All mutants of a module, in the order of its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from greenloop.grading.mutants import calls, flow, signs, values
from greenloop.grading.mutants.bytecode import Statements
from greenloop.grading.mutants.mutant import Change, Mutant, Place
from greenloop.grading.mutants.places import places
from greenloop.grading.mutants.questions import question
from greenloop.grading.mutants.suspects import suspicion
from greenloop.grading.mutants.text import Source

Operator = Callable[[ast.AST, Place, Source], Iterator[Change]]
_OPERATORS: tuple[Operator, ...] = (
    signs.arithmetic,
    signs.augmented,
    signs.comparison,
    signs.boolean,
    signs.unary,
    values.constant,
    values.formatted,
    flow.condition,
    flow.loop,
    flow.result,
    flow.assignment,
    flow.statement,
    flow.exception,
    calls.called,
    calls.argument,
    calls.unwrapped,
    calls.sliced,
    calls.default,
    calls.decorator,
)
_Found = tuple[Change, ast.AST, Place]


def mutants(code: str) -> tuple[Mutant, ...]:
    """Every mutant that compiles and is another program than the module and than all before it.

    Raises:
        SyntaxError: the module does not compile (ValueError where it holds a NUL character).
    """
    tree, source = ast.parse(code), Source(code)
    statements = Statements(tree, source)
    seen: set[Any] = set()
    numbers: dict[str, int] = {}
    found: list[Mutant] = []
    for change, node, place in _changes(tree, source):
        program = statements.changed(change.start, change.end, change.text)
        if program is not None and program not in seen:
            seen.add(program)
            found.append(_mutant(change, node, place, source, numbers))
    return tuple(found)


def _changes(tree: ast.Module, source: Source) -> list[_Found]:
    """What the operators propose, by place; at one place in the order of the operators."""
    found = [
        (change, node, place)
        for node, place in places(tree, source)
        for operator in _OPERATORS
        for change in operator(node, place, source)
    ]
    return sorted(found, key=lambda item: (item[0].start, item[0].end))


def _mutant(
    change: Change, node: ast.AST, place: Place, source: Source, numbers: dict[str, int]
) -> Mutant:
    first = source.line(change.start)
    start = source.line_start(first)
    end = source.line_end(source.line(max(change.start, change.end - 1)))
    column = change.start - start + 1
    name = f"{first}:{column} {change.operator}"
    numbers[name] = numbers.get(name, 0) + 1
    text = source.text
    own = getattr(node, "name", "") if change.operator in ("default", "decorator") else ""
    return Mutant(
        id=name if numbers[name] == 1 else f"{name} {numbers[name]}",
        operator=change.operator,
        line=first,
        column=column,
        start=change.start,
        end=change.end,
        original=text[change.start : change.end],
        mutated=change.text,
        before=text[start:end],
        after=text[start : change.start] + change.text + text[change.end : end],
        function=".".join(part for part in (place.function, own) if part),
        question=question(change, node, place, source),
        equivalent_suspect=suspicion(change, node, place, source),
    )
