"""Mutants on the changed lines of a project, each against the tests that run its line."""

import math
import os
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from greenloop.grading import Plan
from greenloop.grading.mutation import measure_mutation
from greenloop.project.runner import ProjectRunner
from greenloop.records import Baseline, Mutation
from greenloop.sandbox.base import SandboxView
from greenloop.sandbox.work.trials.runs import (
    ModuleEdit,
    MutantRun,
    MutantRuns,
    compare_runs,
    get_mutant_timeout,
    keep_half,
    try_separately,
)
from greenloop.testsuite import TestFile

_SUMS = (
    *("killed", "timeout", "crashed", "errors", "not_run", "generated", "sampled"),
    *("equivalent_suspects", "seconds"),
)
_MIN_MUTANTS = 10
# An estimate of a run: its start, and the share of the suite that its tests take.
_START_SECONDS, _SUITE_SHARE = 0.7, 0.6


class _MappedTests(SandboxView):
    """Runs mutants of one file of a project, each with the tests that run its lines."""

    def __init__(
        self, runner: ProjectRunner, baseline: Baseline, path: str, deadline: float | None
    ) -> None:
        super().__init__(runner.box)
        self._runner, self._baseline, self._path = runner, baseline, path
        self._deadline = math.inf if deadline is None else deadline
        self.spent_s = 0.0

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        edits: Sequence[ModuleEdit],
        *,
        module: str,
        budget_s: float,
        lanes: int | None = None,
    ) -> MutantRuns:
        """Run each edit until the first of its tests fails, for at most `budget_s` CPU seconds a core.

        Before, the tests of all edits are run once on the code: for their time, and because only
        those that pass count.
        """
        mapped = {edit: list_tests(self._baseline, self._path, edit.lines) for edit in edits}
        union = sorted({name for some in mapped.values() for name in some})
        if not union:
            return MutantRuns((MutantRun("uncovered"),) * len(edits))
        left_s = min(self._runner.suite_s, max(self._deadline - time.monotonic(), 1.0))
        first = self._runner.run({}, union, timeout_s=left_s)
        passing = {test.id for test in first.tests if test.outcome == "passed"}
        if first.ending != "finished" or not passing:
            why = f"the tests do not pass again on the code ({first.ending})"
            return MutantRuns((MutantRun("not_run"),) * len(edits), why, first.duration_s)
        timeout_s = get_mutant_timeout(first)

        def try_edit(edit: ModuleEdit) -> tuple[MutantRun, float]:
            tests = [test for test in mapped[edit] if test in passing]
            if not tests:
                return MutantRun("uncovered"), 0.0
            if time.monotonic() > self._deadline:
                return MutantRun("not_run"), 0.0
            mutant = code[: edit.start] + edit.text + code[edit.end :]
            run = self._runner.run(
                {self._path: mutant}, tests, timeout_s=timeout_s, stops_early=True
            )
            return compare_runs(tests, run), run.cpu_s

        found = try_separately(edits, try_edit, keep_half(budget_s, first.cpu_s))
        self.spent_s = first.cpu_s + found.cpu_s / (os.cpu_count() or 1)
        return found


def list_tests(baseline: Baseline, path: str, lines: tuple[int, int]) -> list[str]:
    """Return the locked tests that run one of the lines from the first to the last."""
    by_line = baseline.lines.get(path, {})
    numbers = range(lines[0], lines[1] + 1)
    return list(dict.fromkeys(test for line in numbers for test in by_line.get(line, ())))


def measure_mutants(
    runner: ProjectRunner,
    lines: Mapping[str, Collection[int]],
    baseline: Baseline,
    plan: Plan,
    deadline: float | None = None,
) -> Mutation:
    """Try mutants on lines of several files, the files one after the other.

    They take the CPU seconds of a few runs of the tests on each core; none is begun after the deadline.
    Raises SandboxError: no process can be started.
    """
    left_s = plan.bound(baseline.cpu_s)
    found: list[tuple[str, Mutation]] = []
    left = limit_count(plan, baseline.cpu_s)
    for number, (path, chosen) in enumerate(sorted(lines.items())):
        files_left = len(lines) - number
        tests = _MappedTests(runner, baseline, path, deadline)
        one = measure_mutation(
            tests,
            runner.tree.texts[path],
            (),
            module=path.removesuffix(".py"),
            max_mutants=left and max(left // files_left, 1),
            seed=plan.seed,
            budget_s=max(left_s, 0.0),
            lines=chosen,
        )
        left = left and max(left - one.sampled, 1)
        left_s -= tests.spent_s
        found.append((path, one))
    return _merge_records(found, plan.seed)


def limit_count(plan: Plan, suite_s: float) -> int | None:
    """Return how many mutants can be tried in time; None for all, where that was asked for."""
    if plan.mutants is None:
        return None
    each_s = _START_SECONDS + _SUITE_SHARE * suite_s
    in_time = int(plan.bound(suite_s) * (os.cpu_count() or 1) / each_s)
    return min(plan.mutants, max(in_time, _MIN_MUTANTS))


def _merge_records(found: Sequence[tuple[str, Mutation]], seed: int) -> Mutation:
    tried = [(path, one) for path, one in found if one.sampled]
    survived = tuple(
        item.model_copy(update={"id": f"{path}:{item.id}", "path": path})
        for path, one in tried
        for item in one.survived
    )
    results = (
        item.model_copy(update={"id": f"{path}:{item.id}"})
        for path, one in tried
        for item in one.tried
    )
    counts: dict[str, Any] = {name: sum(getattr(one, name) for _, one in found) for name in _SUMS}
    whole = Mutation(score=None, survived=survived, tried=tuple(results), seed=seed, **counts)
    trouble = next((f"{path}: {one.trouble}" for path, one in tried if one.trouble), "")
    if not tried:
        trouble = "the changed lines have nothing that a mutant could change"
    if trouble:
        return whole.model_copy(update={"trouble": trouble})
    score = round(whole.noticed / (whole.noticed + len(survived)), 4)
    return whole.model_copy(update={"score": score})
