"""Test runs of a project on sandboxed copies: the baseline, and runs with changed files."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from greenloop.grading.context import measure_cost
from greenloop.grading.coverage.line_map import list_taken_branches, map_lines
from greenloop.project.tree import ProjectTree
from greenloop.records import Baseline, TestRun
from greenloop.records.pytest_run import MARKED_OUTCOMES
from greenloop.sandbox import Sandbox
from greenloop.sandbox.guest.protocol.framing import PROCESSES
from greenloop.sandbox.limits import SUITE_SECONDS, stretch
from greenloop.sandbox.work.tests import Hits
from greenloop.testsuite.parser import is_test_path

NOT_FINISHED = "the tests did not finish"
_OF_TIME = ("DeadlineExceeded", "FailedHealthCheck", "Flaky", "FlakyFailure")
_MAX_SHOWN_CHARS = 300


@dataclass(frozen=True)
class ProjectRunner:
    """Runner of a project's tests in a sandbox, with its configuration and conftest files."""

    box: Sandbox
    tree: ProjectTree

    @property
    def suite_s(self) -> float:
        """The wall-clock seconds of the whole suite, at least the user's limit of a run."""
        return stretch(max(SUITE_SECONDS, self.box.limits.timeout_s))

    def run(
        self,
        changed: Mapping[str, str | None],
        tests: Sequence[str] | None = None,
        **options: Any,
    ) -> TestRun:
        """Run tests (node ids, files or folders; None: the suite) in a copy with changed files.

        The options are those of `Sandbox.run_project`.

        Raises:
            InputError: a test's file is not in the project.
            SandboxError: no process can be started.
        """
        scope = filter(None, [self.tree.scope])
        project = self.tree.with_changes(changed, tests or [*scope]).project
        return self.box.run_project(project, **options)

    def measure_baseline(
        self,
        limit_s: float | None = None,
        tests: Sequence[str] | None = None,
        *,
        once: bool = False,
    ) -> Baseline:
        """Run the suite, or `tests`, twice in parallel: plainly, and with lines traced by test.

        Tests whose outcomes differ are run a third time, untraced. Tests that Hypothesis ends for
        their time are flaky, as tracing and load slow them down. With `once` there is one traced
        run, and only its failing tests are run again. `Baseline.problem` and `.failures` are set if
        the suite does not end within `limit_s` seconds (None: `suite_s`), or no test passes.
        Raises SandboxError: no process can be started.
        """
        texts, limit_s = self.tree.texts, limit_s or self.suite_s
        hits: Hits = {path: {} for path in texts if not is_test_path(path)}
        starting: dict[str, int] = {}
        hits[PROCESSES] = starting
        first, again = (self._run_traced if once else self._run_twice)(hits, tests, limit_s)
        if problem := _find_problem(first):
            return Baseline(problem=problem, failures=first.failures, seconds=first.duration_s)
        outcomes = first.outcomes
        differing = [name for name in outcomes if again.get(name) != outcomes[name]]
        if differing:
            again = {**again, **self.run({}, differing, timeout_s=limit_s).outcomes}
        flaky = {name for name in differing if again.get(name) != outcomes[name]}
        passed = [name for name, item in outcomes.items() if item == "passed" and name not in flaky]
        flaky |= {item.test for item in first.failures if item.exception in _OF_TIME} - set(passed)
        red = {*first.failing_tests} - set(passed) - flaky
        others = {name: item for name, item in outcomes.items() if item in MARKED_OUTCOMES}
        red -= others.keys()
        seen = {path: found for path, found in hits.items() if found and path != PROCESSES}
        return Baseline(
            locked=tuple(passed),
            red=tuple(sorted(red)),
            flaky=tuple(sorted(flaky)),
            others={name: item for name, item in others.items() if name not in flaky},
            seconds=round(first.duration_s, 3),
            cpu_s=first.cpu_s,
            cost_s=measure_cost(first),
            reached={path: map_lines(texts[path], found, passed) for path, found in seen.items()},
            branches={path: list_taken_branches(texts[path], i) for path, i in seen.items()},
            durations={item.id: item.duration_s for item in first.tests if item.id in {*passed}},
            starting=frozenset(starting).intersection(passed),
        )

    def _run_twice(
        self, hits: Hits, tests: Sequence[str] | None, limit_s: float
    ) -> tuple[TestRun, Mapping[str, str]]:
        """Return an untraced run, and the outcomes of a parallel traced run, which fills `hits`."""
        beside = replace(self, box=self.box.with_packages(self.box.packages))
        with ThreadPoolExecutor(1) as pool:
            traced = pool.submit(beside.run, {}, tests, timeout_s=2 * limit_s, hits=hits)
            first = self.run({}, tests, timeout_s=limit_s)
            if _find_problem(first):
                beside.box.interrupt()
        return first, traced.result().outcomes

    def _run_traced(
        self, hits: Hits, tests: Sequence[str] | None, limit_s: float
    ) -> tuple[TestRun, Mapping[str, str]]:
        """Return a traced run, and the outcomes with its failing tests run again untraced."""
        traced = self.run({}, tests, timeout_s=limit_s, hits=hits)
        outcomes: dict[str, str] = {**traced.outcomes}
        failing = [name for name, item in outcomes.items() if item in ("failed", "error")]
        if failing and not _find_problem(traced):
            outcomes |= self.run({}, failing, timeout_s=limit_s).outcomes
        return traced, outcomes


def _find_problem(run: TestRun) -> str:
    """Return in one line why a suite cannot be used, or '' if some of its tests pass."""
    if run.ending != "finished":
        return f"{NOT_FINISHED}: {run.detail}"[:_MAX_SHOWN_CHARS]
    if run.passed_count:
        return ""
    if not run.failures:
        return (
            "no tests were found: pytest collects functions test_* of files test_*.py or *_test.py"
        )
    first = run.failures[0]
    text = f"{first.test or 'pytest'}: {first.exception}: {first.message}"
    return f"no test passes: {' '.join(text.split())}"[:_MAX_SHOWN_CHARS]
