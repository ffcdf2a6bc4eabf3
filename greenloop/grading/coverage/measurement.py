"""Coverage by line and branch: the tests once more on a module that notes what it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.grading.coverage.instrumentation import (
    InstrumentedModule,
    instrument_module,
    render_hits_tests,
)
from greenloop.records import Coverage, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

_HITS_PREFIX = "notes:"


@dataclass(frozen=True)
class InstrumentedTests:
    """The module that notes what it runs, and the tests with a last file that tells what."""

    module: InstrumentedModule
    tests: tuple[TestFile, ...]

    def compute_coverage(
        self, run: TestRun, first_run: TestRun, thresholds: Thresholds
    ) -> Coverage | str:
        """What a run of them tells, where the tests ended as they did `before`."""
        if not self.has_same_outcomes(run, first_run):
            how = "the tests end otherwise" if run.ending == "finished" else run.ending
            return f"{how} on code that notes what it runs"
        name = self.tests[-1].name
        told = {item.test: item.message for item in run.failures if item.test.startswith(name)}
        parts = [
            text.partition(_HITS_PREFIX)[2].split("\n")[0]
            for _, text in sorted(told.items(), key=_get_part_number)
        ]
        return _build_coverage(self.module, "".join(parts), thresholds)

    def has_same_outcomes(self, run: TestRun, first_run: TestRun) -> bool:
        """Whether each test ended as before, and no others were there but those that tell."""
        own, name = run.outcomes, self.tests[-1].name
        return {key: own[key] for key in own if not key.startswith(name)} == first_run.outcomes


def instrument_tests(code: str, tests: Sequence[TestFile], module: str) -> InstrumentedTests | str:
    """These, or why there are none."""
    try:
        noted = instrument_module(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "the code cannot be rewritten"
    last = TestFile(
        f"test_{module}_noted.py", render_hits_tests(module, noted.hit_count), is_last=True
    )
    if any(item.name == last.name for item in tests):
        return f"{last.name} is taken"
    return InstrumentedTests(noted, (*tests, last))


def measure_coverage(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    first_run: TestRun,
    thresholds: Thresholds,
) -> Coverage | str:
    """The evidence, or why it could not be measured: the tests end otherwise on noting code."""
    made = instrument_tests(code, tests, module)
    if isinstance(made, str):
        return made
    run = sandbox.run_tests(made.module.source, made.tests, module=module)
    return made.compute_coverage(run, first_run, thresholds)


def _get_part_number(item: tuple[str, str]) -> int:
    number = item[0].rpartition("_")[2]
    return int(number) if number.isdigit() else 0


def _build_coverage(
    instrumented: InstrumentedModule, hits: str, thresholds: Thresholds
) -> Coverage | str:
    if len(hits) != instrumented.hit_count or set(hits) - {"0", "1"}:
        return "what was noted did not come back"
    lines = sorted(line for number, line in instrumented.lines.items() if hits[number] == "0")
    branches = [name for number, name in instrumented.branches.items() if hits[number] == "0"]
    line = _compute_covered_share(len(lines), len(instrumented.lines))
    branch = _compute_covered_share(len(branches), len(instrumented.branches))
    return Coverage(
        reached=line >= thresholds.line_coverage and branch >= thresholds.branch_coverage,
        line=line,
        branch=branch,
        missed_lines=tuple(lines),
        missed_branches=tuple(branches),
        statements=tuple(sorted(set(instrumented.lines.values()))),
    )


def _compute_covered_share(missed: int, total: int) -> float:
    return round(1 - missed / total, 4) if total else 1.0
