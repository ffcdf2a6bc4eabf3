"""All mutants of a module, in the order of its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from greenloop.grading.mutation.bytecode import Unit, Units
from greenloop.grading.mutation.equivalence import suspicion
from greenloop.grading.mutation.mutant import Change, Mutant
from greenloop.grading.mutation.operators import calls, control_flow, expressions, literals
from greenloop.grading.mutation.questions import question
from greenloop.syntax.nodes import Place, places
from greenloop.syntax.source import Source

Operator = Callable[[ast.AST, Place, Source], Iterator[Change]]
_OPERATORS: tuple[Operator, ...] = (
    expressions.arithmetic,
    expressions.augmented,
    expressions.comparison,
    expressions.boolean,
    expressions.unary,
    literals.constant,
    literals.formatted,
    control_flow.condition,
    control_flow.loop,
    control_flow.result,
    control_flow.assignment,
    control_flow.statement,
    control_flow.exception,
    calls.called,
    calls.argument,
    calls.unwrapped,
    calls.sliced,
    calls.default,
    calls.decorator,
)
_CASES = (ast.match_case,)
_Found = tuple[Change, ast.AST, Place]


def mutants(code: str) -> tuple[Mutant, ...]:
    """Every mutant that compiles and is another program than the module and than all before it.

    Raises:
        SyntaxError: the module does not compile (ValueError where it holds a NUL character).
    """
    tree, source = ast.parse(code), Source(code)
    units = Units(tree, source)
    seen: set[Any] = set()
    numbers: dict[str, int] = {}
    found: list[Mutant] = []
    for change, node, place in _changes(tree, source):
        unit = units.around(change.start, change.end)
        program = unit and units.changed(unit, change.start, change.end, change.text)
        if unit and program is not None and program not in seen:
            seen.add(program)
            found.append(_mutant(change, node, place, source, unit, numbers))
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
    change: Change,
    node: ast.AST,
    place: Place,
    source: Source,
    unit: Unit,
    numbers: dict[str, int],
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
        unit=unit,
        statement=_statement(node, place),
        equivalent_suspect=suspicion(change, node, place, source),
    )


def _statement(node: ast.AST, place: Place) -> tuple[int, int]:
    """First and last line of the statement that a node is in; of a compound one, of its head."""
    heads = (ast.stmt, ast.ExceptHandler, *_CASES)
    around = next(item for item in (node, *reversed(place.ancestors)) if isinstance(item, heads))
    first = min(_line(item) for item in [around, *getattr(around, "decorator_list", [])])
    body = getattr(around, "body", None)
    if isinstance(body, list) and body:
        return first, max(first, _line(body[0]) - 1)
    return first, getattr(around, "end_lineno", None) or first


def _line(node: ast.AST) -> int:
    """Of a `case`, which has no line of its own, that of its pattern."""
    return int(getattr(node, "lineno", 0) or getattr(node.pattern, "lineno", 0))  # type: ignore[attr-defined]
