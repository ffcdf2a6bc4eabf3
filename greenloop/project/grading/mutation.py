"""Mutation testing of changed lines: each mutant against the tests that run its line."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from greenloop.grading import Plan
from greenloop.grading.coverage.line_map import list_lines
from greenloop.grading.mutation import measure_mutation
from greenloop.project.grading.coverage import find_changed_statements
from greenloop.project.runner import ProjectRunner
from greenloop.records import Baseline, Mutation
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.sandbox.work.trials.lanes import count_lanes
from greenloop.sandbox.work.trials.runs import (
    BaselineResult,
    ModuleEdit,
    MutantRun,
    MutantRuns,
)
from greenloop.testsuite import TestFile

_SUMS = (
    *("killed", "timeout", "crashed", "errors", "not_run", "generated", "sampled"),
    *("equivalent_suspects", "seconds"),
)


class _MappedTests(ProjectSandbox):
    """Sandbox that runs mutants of one file with the project's target tests, if there are any.

    `spent_s` are the CPU seconds per lane.
    """

    spent_s = 0.0

    def run_mutants(
        self, code: str, tests: Sequence[TestFile], edits: Sequence[ModuleEdit], **options: Any
    ) -> MutantRuns:
        if not self.project.targets:
            return MutantRuns((MutantRun("uncovered"),) * len(edits))
        found = super().run_mutants(code, tests, edits, **options)
        self.spent_s = found.cpu_s / count_lanes(self)
        return found


def _list_tests(baseline: Baseline, path: str, text: str, lines: Set[int]) -> list[str]:
    """Return the locked tests that run one of the lines, in pytest's order.

    A statement that no test is seen to run may run in a process that a test starts.
    """
    by_line = baseline.lines.get(path, {})
    found = {test for line in lines for test in by_line.get(line, ())}
    is_seen = baseline.reached.get(path, {}).keys() >= {*find_changed_statements(text, lines)}
    return baseline.sort_tests(found if is_seen else found | baseline.starting)


def _name_whole_functions(tests: Sequence[str], baseline: Baseline) -> list[str]:
    """Return node ids, with one id for a parametrized function if all its cases are in `tests`.

    A mutant may change a case's id, and pytest would not find the case by its old id.
    """
    functions = Counter(_strip_case(name) for name in baseline.names)
    chosen = Counter(map(_strip_case, tests))
    short = (_strip_case(name) for name in tests)
    whole = (n if functions[n] == chosen[n] else name for n, name in zip(short, tests, strict=True))
    return list(dict.fromkeys(whole))


def _strip_case(test: str) -> str:
    return test.partition("[")[0]


def _describe_tests(
    baseline: Baseline, path: str, tests: Sequence[str]
) -> tuple[BaselineResult, ...]:
    """Return the baseline's results of tests on a file; () if it has no durations."""
    places = {name: at for at, name in enumerate(baseline.locked)}
    chosen = {name: places[name] for name in tests}  # of a large suite these are few
    lines = list_lines(baseline.reached.get(path, {}), chosen)
    seconds, share = baseline.durations, min(1.0, baseline.cpu_s / (baseline.seconds or 1.0))
    return tuple(
        BaselineResult(
            *(name, "passed", share * seconds[name], seconds[name], lines[name]),
            starts_processes=name in baseline.starting,
        )
        for name in tests
        if seconds
    )


def measure_mutants(
    runner: ProjectRunner,
    lines: Mapping[str, Collection[int]],
    baseline: Baseline,
    plan: Plan,
) -> Mutation:
    """Try mutants on lines of several files, one file after the other, each in one test session.

    The budget is the CPU time of a few runs of the tests on each core.
    Raises SandboxError: no process can be started.
    """
    left_s, left = plan.bound(baseline.cpu_s), plan.mutants
    found: list[tuple[str, Mutation]] = []
    for number, (path, chosen) in enumerate(sorted(lines.items())):
        share = len(lines) - number
        names = _list_tests(baseline, path, runner.tree.texts[path], {*chosen})
        targets = _name_whole_functions(names, baseline)
        project = runner.tree.with_changes({}, targets).project
        tests = _MappedTests(runner.box, project, path)
        one = measure_mutation(
            tests,
            runner.tree.texts[path],
            (),
            module=path.removesuffix(".py"),
            max_mutants=left and max(left // share, 1),
            seed=plan.seed,
            budget_s=max(left_s / share, 0.0),
            lines=chosen,
            known=_describe_tests(baseline, path, names),
        )
        left = left and max(left - one.sampled, 1)
        left_s -= tests.spent_s
        found.append((path, one))
    return _merge_records(found, plan.seed)


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
