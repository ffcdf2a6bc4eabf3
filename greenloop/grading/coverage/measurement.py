"""Coverage by line and branch: the tests once more on a module that notes what it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.grading.coverage.instrumentation import Noted, noting, telling
from greenloop.records import Coverage, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

_SIGN = "notes:"


@dataclass(frozen=True)
class NotingTests:
    """The module that notes what it runs, and the tests with a last file that tells what."""

    noted: Noted
    tests: tuple[TestFile, ...]

    def counted(self, run: TestRun, before: TestRun, limits: Thresholds) -> Coverage | str:
        """What a run of them tells, where the tests ended as they did `before`."""
        if not self.ended_as(run, before):
            how = "the tests end otherwise" if run.ending == "finished" else run.ending
            return f"{how} on code that notes what it runs"
        name = self.tests[-1].name
        told = {item.test: item.message for item in run.failures if item.test.startswith(name)}
        parts = [
            text.partition(_SIGN)[2].split("\n")[0] for _, text in sorted(told.items(), key=_at)
        ]
        return _counted(self.noted, "".join(parts), limits)

    def ended_as(self, run: TestRun, before: TestRun) -> bool:
        """Whether each test ended as before, and no others were there but those that tell."""
        own, name = run.outcomes, self.tests[-1].name
        return {key: own[key] for key in own if not key.startswith(name)} == before.outcomes


def noting_tests(code: str, tests: Sequence[TestFile], module: str) -> NotingTests | str:
    """These, or why there are none."""
    try:
        noted = noting(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "the code cannot be rewritten"
    last = TestFile(f"test_{module}_noted.py", telling(module, noted.count), last=True)
    if any(item.name == last.name for item in tests):
        return f"{last.name} is taken"
    return NotingTests(noted, (*tests, last))


def coverage(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    before: TestRun,
    thresholds: Thresholds,
) -> Coverage | str:
    """The evidence, or why it could not be measured: the tests end otherwise on noting code."""
    made = noting_tests(code, tests, module)
    if isinstance(made, str):
        return made
    run = box.run_tests(made.noted.source, made.tests, module=module)
    return made.counted(run, before, thresholds)


def _at(item: tuple[str, str]) -> int:
    number = item[0].rpartition("_")[2]
    return int(number) if number.isdigit() else 0


def _counted(noted: Noted, notes: str, thresholds: Thresholds) -> Coverage | str:
    if len(notes) != noted.count or set(notes) - {"0", "1"}:
        return "what was noted did not come back"
    lines = sorted(line for number, line in noted.lines.items() if notes[number] == "0")
    branches = [name for number, name in noted.branches.items() if notes[number] == "0"]
    line = _share(len(lines), len(noted.lines))
    branch = _share(len(branches), len(noted.branches))
    return Coverage(
        reached=line >= thresholds.line_coverage and branch >= thresholds.branch_coverage,
        line=line,
        branch=branch,
        missed_lines=tuple(lines),
        missed_branches=tuple(branches),
        statements=tuple(sorted(set(noted.lines.values()))),
    )


def _share(missed: int, total: int) -> float:
    return round(1 - missed / total, 4) if total else 1.0
