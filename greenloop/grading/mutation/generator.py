"""All mutants of a module, in the order of its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from greenloop.grading.mutation.bytecode import CompilationUnit, CompilationUnits
from greenloop.grading.mutation.equivalence import explain_equivalence
from greenloop.grading.mutation.mutant import Mutant, ProposedChange
from greenloop.grading.mutation.operators import calls, control_flow, expressions, literals
from greenloop.grading.mutation.questions import build_question
from greenloop.syntax.nodes import NodeLocation, walk_mutable_nodes
from greenloop.syntax.source import Source

Operator = Callable[[ast.AST, NodeLocation, Source], Iterator[ProposedChange]]
_OPERATORS: tuple[Operator, ...] = (
    expressions.mutate_arithmetic,
    expressions.mutate_augmented_assignment,
    expressions.mutate_comparison,
    expressions.mutate_boolean,
    expressions.remove_unary_operator,
    literals.mutate_constant,
    literals.mutate_f_string,
    control_flow.negate_condition,
    control_flow.mutate_loop,
    control_flow.mutate_result,
    control_flow.mutate_assignment,
    control_flow.remove_statement,
    control_flow.mutate_exception,
    calls.mutate_called_name,
    calls.mutate_argument,
    calls.unwrap_call,
    calls.mutate_slice,
    calls.mutate_default,
    calls.remove_decorator,
)
_CASE_TYPES = (ast.match_case,)
_Proposal = tuple[ProposedChange, ast.AST, NodeLocation]


def generate_mutants(code: str) -> tuple[Mutant, ...]:
    """Every mutant that compiles and is another program than the module and than all before it.

    Raises:
        SyntaxError: the module does not compile (ValueError where it holds a NUL character).
    """
    tree, source = ast.parse(code), Source(code)
    units = CompilationUnits(tree, source)
    seen: set[Any] = set()
    numbers: dict[str, int] = {}
    found: list[Mutant] = []
    for change, node, place in _propose_changes(tree, source):
        unit = units.find_enclosing(change.start, change.end)
        program = unit and units.compile_change(unit, change.start, change.end, change.text)
        if unit and program is not None and program not in seen:
            seen.add(program)
            found.append(_build_mutant(change, node, place, source, unit, numbers))
    return tuple(found)


def _propose_changes(tree: ast.Module, source: Source) -> list[_Proposal]:
    """What the operators propose, by place; at one place in the order of the operators."""
    found = [
        (change, node, place)
        for node, place in walk_mutable_nodes(tree, source)
        for operator in _OPERATORS
        for change in operator(node, place, source)
    ]
    return sorted(found, key=lambda item: (item[0].start, item[0].end))


def _build_mutant(
    change: ProposedChange,
    node: ast.AST,
    location: NodeLocation,
    source: Source,
    unit: CompilationUnit,
    id_counts: dict[str, int],
) -> Mutant:
    first = source.get_line_number(change.start)
    start = source.line_start(first)
    end = source.line_end(source.get_line_number(max(change.start, change.end - 1)))
    column = change.start - start + 1
    name = f"{first}:{column} {change.operator}"
    id_counts[name] = id_counts.get(name, 0) + 1
    text = source.text
    own = getattr(node, "name", "") if change.operator in ("default", "decorator") else ""
    return Mutant(
        id=name if id_counts[name] == 1 else f"{name} {id_counts[name]}",
        operator=change.operator,
        line=first,
        column=column,
        start=change.start,
        end=change.end,
        original=text[change.start : change.end],
        replacement=change.text,
        before=text[start:end],
        after=text[start : change.start] + change.text + text[change.end : end],
        function=".".join(part for part in (location.function, own) if part),
        question=build_question(change, node, location, source),
        unit=unit,
        statement=_find_statement_lines(node, location),
        equivalence_reason=explain_equivalence(change, node, location, source),
    )


def _find_statement_lines(node: ast.AST, location: NodeLocation) -> tuple[int, int]:
    """First and last line of the statement that a node is in; of a compound one, of its head."""
    heads = (ast.stmt, ast.ExceptHandler, *_CASE_TYPES)
    around = next(item for item in (node, *reversed(location.ancestors)) if isinstance(item, heads))
    first = min(_get_line_number(item) for item in [around, *getattr(around, "decorator_list", [])])
    body = getattr(around, "body", None)
    if isinstance(body, list) and body:
        return first, max(first, _get_line_number(body[0]) - 1)
    return first, getattr(around, "end_lineno", None) or first


def _get_line_number(node: ast.AST) -> int:
    """Of a `case`, which has no line of its own, that of its pattern."""
    return int(getattr(node, "lineno", 0) or getattr(node.pattern, "lineno", 0))  # type: ignore[attr-defined]
