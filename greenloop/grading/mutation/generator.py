"""Generation of a module's mutants, and samples of mutants spread over the whole module."""

import ast
import random
from collections.abc import Sequence
from typing import Any

from greenloop.grading.mutation.changes import describe_change
from greenloop.grading.mutation.equivalence import explain_equivalence
from greenloop.grading.mutation.mutant import Mutant, ProposedEdit
from greenloop.sandbox.work.trials.runs import ModuleEdit
from greenloop.syntax.bytecode import CompilationUnit, CompilationUnits
from greenloop.syntax.nodes import NodeContext, list_header_lines, walk_editable_nodes
from greenloop.syntax.operators import OPERATORS
from greenloop.syntax.source import Source


def generate_mutants(code: str) -> tuple[Mutant, ...]:
    """Return all mutants in the order of the text.

    Each compiles, to bytecode other than that of the module and of all mutants before it.
    Raises SyntaxError: the module does not compile (ValueError if it contains a NUL character).
    """
    tree, source = ast.parse(code), Source(code)
    units = CompilationUnits(tree, source)
    seen: set[Any] = set()
    id_counts: dict[str, int] = {}
    found: list[Mutant] = []
    for proposed in _propose_edits(tree, source):
        unit = units.find_enclosing(proposed.edit.start, proposed.edit.end)
        program = unit and units.compile_edit(unit, proposed.edit)
        if unit and program is not None and program not in seen:
            seen.add(program)
            found.append(_build_mutant(proposed, unit, id_counts))
    return tuple(found)


def _propose_edits(tree: ast.Module, source: Source) -> list[ProposedEdit]:
    """Return the edits that the operators propose, sorted by span, then by operator."""
    found = [
        ProposedEdit(operator, edit, context)
        for context in walk_editable_nodes(tree, source)
        for operator in OPERATORS
        for edit in operator.apply(context)
    ]
    return sorted(found, key=lambda item: (item.edit.start, item.edit.end))


def _build_mutant(
    proposed: ProposedEdit, unit: CompilationUnit, id_counts: dict[str, int]
) -> Mutant:
    edit, context, operator = proposed.edit, proposed.context, proposed.operator.name
    source = context.source
    line = source.get_line_number(edit.start)
    column = edit.start - source.line_start(line) + 1
    name = f"{line}:{column} {operator}"
    id_counts[name] = id_counts.get(name, 0) + 1
    own_name = getattr(context.node, "name", "") if operator in ("default", "decorator") else ""
    return Mutant(
        id=name if id_counts[name] == 1 else f"{name} {id_counts[name]}",
        operator=operator,
        line=line,
        column=column,
        edit=ModuleEdit(edit.start, edit.end, edit.text, unit, _find_statement_lines(context)),
        function=".".join(part for part in (context.function, own_name) if part),
        change=describe_change(proposed),
        source=source,
        equivalence_reason=explain_equivalence(proposed),
    )


def _find_statement_lines(context: NodeContext) -> tuple[int, int]:
    """Return the first and last line of the node's statement, or of a compound one's header."""
    kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
    path = (context.node, *reversed(context.ancestors))
    statement = next(item for item in path if isinstance(item, kinds))
    lines = list_header_lines(statement)
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([lines[0], *(item.lineno for item in decorators)]), lines[-1]


def sample_mutants(mutants: Sequence[Mutant], max_mutants: int, seed: int) -> tuple[Mutant, ...]:
    """Return at most `max_mutants` mutants in the order of the text; `seed` decides which.

    Each function gets one before any gets a second; likewise each line within a function.
    """
    rng = random.Random(seed)
    functions = list(_group_by_attribute(mutants, "function").values())
    queues = [_order_by_line(members, rng) for members in functions]
    rng.shuffle(queues)
    chosen: list[Mutant] = []
    while queues and len(chosen) < max_mutants:
        for queue in queues[: max_mutants - len(chosen)]:
            chosen.append(queue.pop())
        queues = [queue for queue in queues if queue]
    positions = {item.id: number for number, item in enumerate(mutants)}
    return tuple(sorted(chosen, key=lambda item: positions[item.id]))


def _order_by_line(mutants: Sequence[Mutant], rng: random.Random) -> list[Mutant]:
    """Return the mutants spread over the lines, in reverse, as the caller pops from the end."""
    lines = list(_group_by_attribute(mutants, "line").values())
    for line in lines:
        rng.shuffle(line)
    rng.shuffle(lines)
    taken: list[Mutant] = []
    while lines:
        taken.extend(line.pop() for line in lines)
        lines = [line for line in lines if line]
    return taken[::-1]


def _group_by_attribute(mutants: Sequence[Mutant], name: str) -> dict[object, list[Mutant]]:
    groups: dict[object, list[Mutant]] = {}
    for item in mutants:
        groups.setdefault(getattr(item, name), []).append(item)
    return groups
