"""Coverage by line and branch: the tests on a module that records what it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from greenloop.grading.context import GradingContext
from greenloop.grading.coverage.unreached import find_unreached
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import Coverage, TestRun
from greenloop.sandbox.guest.coverage.instrumentation import (
    InstrumentedModule,
    instrument_module,
    render_hits_tests,
)
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.testsuite import TestFile

_HITS_PREFIX = "hits:"
DISTURBED = "on instrumented code"  # ends the reason why there is no coverage of a run that differs


def measure(context: GradingContext) -> Coverage | str:
    """Run the tests on instrumented code; a text says why coverage could not be measured.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    try:
        module = instrument_module(context.code)
    except PARSE_ERRORS:
        return "the code cannot be instrumented"
    if isinstance(context.sandbox, ProjectSandbox):
        return _measure_in_project(context, context.sandbox, module)
    name = f"test_{context.module}_noted.py"
    if any(item.name == name for item in context.tests):
        return f"{name} is taken"
    last = TestFile(name, render_hits_tests(context.module, module.hit_count), is_last=True)
    run = context.run_tests(module.source, [*context.tests, last])
    own = {key: outcome for key, outcome in run.outcomes.items() if not key.startswith(name)}
    if why := _explain_difference(context, run, own):
        return why
    reported = {f.test: f.message for f in run.failures if f.test.startswith(name)}
    parts = [
        text.partition(_HITS_PREFIX)[2].split("\n")[0]
        for _, text in sorted(reported.items(), key=_get_part_number)
    ]
    return build_coverage(module, "".join(parts), context)


def _measure_in_project(
    context: GradingContext, sandbox: ProjectSandbox, module: InstrumentedModule
) -> Coverage | str:
    """Run the tests of a module in its project, which notes what is run of it."""
    run, mask = sandbox.record_hits(context.code, context.tests)
    if why := _explain_difference(context, run, run.outcomes):
        return why
    if not mask:
        return (
            "the tests run nothing of this file: the module is imported from elsewhere, "
            "or before the tests"
        )
    hits = "".join("01"[mask >> number & 1] for number in range(module.hit_count))
    return build_coverage(module, hits, context)


def _explain_difference(context: GradingContext, run: TestRun, own: Mapping[str, str]) -> str:
    """Return why a run shows nothing; '' where the tests ended as in the first run."""
    if own == context.first_run.outcomes:
        return ""
    how = "the outcomes differ" if run.ending == "finished" else run.ending
    return f"{how} {DISTURBED}"


def _get_part_number(item: tuple[str, str]) -> int:
    number = item[0].rpartition("_")[2]
    return int(number[:9]) if number.isdecimal() else 0


def build_coverage(
    instrumented: InstrumentedModule, hits: str, context: GradingContext
) -> Coverage | str:
    """Return the coverage that hits show; a text says why they show none."""
    if len(hits) != instrumented.hit_count or set(hits) - {"0", "1"}:
        return "the instrumented code did not report what it ran"
    unasked, thresholds = find_unasked_lines(context.code, context.contract), context.thresholds
    missed = sorted(line for number, line in instrumented.lines.items() if hits[number] == "0")
    missed_branches = [name for n, name in instrumented.branches.items() if hits[n] == "0"]
    lines = [line for line in missed if line not in unasked]
    branches = [name for name in missed_branches if not _touches(name, unasked)]
    apart = len(missed) - len(lines), len(missed_branches) - len(branches)
    line = _compute_covered_share(len(lines), len(instrumented.lines) - apart[0])
    branch = _compute_covered_share(len(branches), len(instrumented.branches) - apart[1])
    statements = tuple(sorted(set(instrumented.lines.values())))
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
