"""Line and branch coverage, from a run of the tests on instrumented code."""

import ast
from collections.abc import Collection, Iterator, Sequence

from greenloop.grading.context import GradingContext
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import Coverage
from greenloop.sandbox.guest.coverage.instrumentation import InstrumentedTree, instrument_file
from greenloop.syntax.nodes import Function, is_constant_statement
from greenloop.syntax.parse import UNREADABLE, parse_or_empty

DISTURBED = "on instrumented code"  # the end of the reason if a run's outcomes differ
# Special methods that callers use by an operator.
_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        "add sub mul truediv floordiv mod pow matmul neg and or xor invert lshift rshift "
        "lt le gt ge getitem setitem delitem contains iter len call"
    ).split()
)
_MAIN_GUARD = "__name__ =="


def measure(context: GradingContext) -> Coverage | str:
    """Run the tests on instrumented code; a text says why coverage could not be measured.

    Raises SandboxError: the sandbox cannot run anything.
    """
    meaning = instrument_file(context.code)
    if meaning is None:
        return UNREADABLE
    found = context.repeat()
    if found.run.outcomes != context.first_run.outcomes:
        found = context.record_hits()
    if found.run.outcomes != context.first_run.outcomes:
        how = "the outcomes differ" if found.run.ending == "finished" else found.run.ending
        return f"{how} {DISTURBED}"
    if not found.mask:
        return (
            "the tests run nothing of this file: the module is imported from elsewhere, "
            "or before the tests"
        )
    return build_coverage(meaning, found.mask, context)


def build_coverage(meaning: InstrumentedTree, mask: int, context: GradingContext) -> Coverage:
    """Return the coverage that a bit mask of hits shows."""
    unasked, thresholds = find_unasked_lines(context.code, context.contract), context.thresholds
    missed = sorted(line for number, line in meaning.lines.items() if not mask >> number & 1)
    missed_branches = [name for n, name in meaning.branches.items() if not mask >> n & 1]
    lines = [line for line in missed if line not in unasked]
    branches = [name for name in missed_branches if not _touches(name, unasked)]
    apart = len(missed) - len(lines), len(missed_branches) - len(branches)
    line = _compute_covered_share(len(lines), len(meaning.lines) - apart[0])
    branch = _compute_covered_share(len(branches), len(meaning.branches) - apart[1])
    statements = tuple(sorted(set(meaning.lines.values())))
    unreached = find_unreached(context.code, statements, missed)
    is_enough = line >= thresholds.line_coverage and branch >= thresholds.branch_coverage
    return Coverage(
        reached=is_enough and not unreached,
        line=line,
        branch=branch,
        missed_lines=tuple(lines),
        missed_branches=tuple(branches),
        statements=statements,
        unasked_lines=tuple(line for line in missed if line in unasked),
        unreached=unreached,
    )


def _touches(branch: str, lines: Collection[int]) -> bool:
    """Whether a branch `12->15` begins or ends on one of the lines."""
    return any(end.isdigit() and int(end) in lines for end in branch.split("->"))


def _compute_covered_share(missed: int, total: int) -> float:
    return round(1 - missed / total, 4) if total else 1.0


def find_unreached(
    code: str, statements: Collection[int], missed: Collection[int]
) -> tuple[str, ...]:
    """Return the public functions and methods none of whose `statements`, given by line, were run.

    Operators count as public. Abstract methods have no statements. Functions that the main guard
    calls are left out.
    """
    body = parse_or_empty(code).body
    conditions = [node for node in body if isinstance(node, ast.If)]
    guards = [node for node in conditions if ast.unparse(node.test).startswith(_MAIN_GUARD)]
    called = {item.id for node in guards for item in ast.walk(node) if isinstance(item, ast.Name)}
    found = ((name, _find_lines(node) & {*statements}) for name, node in _find_public(body))
    return tuple(name for name, own in found if own and own <= {*missed} and name not in called)


def _find_public(
    body: Sequence[ast.stmt],
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((f"{node.name}.{name}", item) for name, item in _find_public(node.body))
        elif isinstance(node, Function) and (
            not node.name.startswith("_") or node.name in _OPERATORS
        ):
            yield node.name, node


def _find_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    """Return the lines of a function's statements, except those that do nothing."""
    idle = (ast.Pass, ast.Raise) if len(node.body) < 3 else ast.Pass
    kept = (i for i in node.body if not isinstance(i, idle) and not is_constant_statement(i))
    return {
        part.lineno for item in kept for part in ast.walk(item) if isinstance(part, ast.stmt)
    } - {node.lineno}
