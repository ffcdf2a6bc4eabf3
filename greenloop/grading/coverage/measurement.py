"""Coverage by line and branch: the tests on a module that records what it runs."""

from __future__ import annotations

from collections.abc import Collection

from greenloop.grading.context import GradingContext
from greenloop.grading.coverage.unreached import find_unreached
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import Coverage, TestRun
from greenloop.sandbox.guest.coverage.instrumentation import InstrumentedTree, instrument_file

DISTURBED = "on instrumented code"  # ends the reason why there is no coverage of a run that differs


def measure(context: GradingContext) -> Coverage | str:
    """Run the tests on instrumented code; a text says why coverage could not be measured.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    meaning = instrument_file(context.code)
    if meaning is None:
        return "the code cannot be instrumented"
    run, mask = context.sandbox.record_hits(context.code, context.tests, context.module)
    if why := _explain_difference(context, run):
        return why
    if not mask:
        return (
            "the tests run nothing of this file: the module is imported from elsewhere, "
            "or before the tests"
        )
    return build_coverage(meaning, mask, context)


def _explain_difference(context: GradingContext, run: TestRun) -> str:
    """Return why a run shows nothing; '' where the tests ended as in the first run."""
    if run.outcomes == context.first_run.outcomes:
        return ""
    how = "the outcomes differ" if run.ending == "finished" else run.ending
    return f"{how} {DISTURBED}"


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
