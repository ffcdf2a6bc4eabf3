"""Coverage by line and branch: the tests once more on a module that notes what it runs."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.records import Coverage, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.suite import TestFile
from greenloop.suite.instrument import Noted, noting, telling

_SIGN = "notes:"


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
    try:
        noted = noting(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "the code cannot be rewritten"
    last = TestFile(f"test_{module}_noted.py", telling(module, noted.count))
    if any(item.name == last.name for item in tests):
        return f"{last.name} is taken"
    run = box.run_tests(noted.source, [*tests, last], module=module)
    outcomes = run.outcomes
    if any(outcomes.get(test.id) != test.outcome for test in before.tests):
        how = "the tests end otherwise" if run.ending == "finished" else run.ending
        return f"{how} on code that notes what it runs"
    told = {item.test: item.message for item in run.failures if item.test.startswith(last.name)}
    parts = [text.partition(_SIGN)[2].split("\n")[0] for _, text in sorted(told.items(), key=_at)]
    return _counted(noted, "".join(parts), thresholds)


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
