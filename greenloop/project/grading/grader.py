"""Evidence about changed lines of a project, from the project's tests."""

import ast
import re
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from greenloop.events import EventSink
from greenloop.grading import GradingContext, Plan, flakiness
from greenloop.grading.assertion_mutation import evidence as assertion_mutation
from greenloop.grading.collector import EvidenceCollector, Measurement
from greenloop.grading.empty_bodies import judge_empty_bodies
from greenloop.grading.integrity.issues import find_findings
from greenloop.grading.mutants import explain_no_mutants
from greenloop.project.grading.coverage import find_changed_statements, measure_coverage
from greenloop.project.grading.modules import CalledModules
from greenloop.project.grading.mutation import measure_mutants
from greenloop.project.grading.new_tests import build_context
from greenloop.project.runner import ProjectRunner
from greenloop.records import (
    AssertionMutation,
    Baseline,
    EmptyBodies,
    Evidence,
    Flakiness,
    HeldOutExample,
    IntegrityFinding,
    Mutation,
)
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import UNREADABLE, parse_or_none
from greenloop.testsuite.parser import TestFunction, is_test_path, parse_test_functions
from greenloop.testsuite.quality_gates import find_returning_tests
from greenloop.testsuite.stubs import with_empty_bodies

NO_STATEMENT = "no statement of code has changed"
NO_NEW_TESTS, SKIPPED_TESTS = "no test is new", "no new test passes here"
NOT_IMPORTED = "no test imports the changed files"
# Pieces of evidence about the changed code, and about new tests.
CODE_PIECES = frozenset({"empty_bodies", "coverage", "mutation"})
TEST_PIECES = frozenset({"assertion_mutation", "isolated", "memorization"})
# Evidence whether tests notice the change, from the cheapest piece to the most expensive one.
QUICK_PIECES = ("coverage", "empty_bodies", "assertion_mutation", "mutation")
OUT_OF_TIME = "out of time"
_WEAK = "the tests pass without the bodies of the changed functions"


@dataclass(frozen=True)
class ChangedLines:
    """Changed lines of a project by path, with its tests and the measurements on both."""

    runner: ProjectRunner
    lines: Mapping[str, Set[int]]
    baseline: Baseline  # of the changed project
    new_tests: Sequence[str] = ()  # node ids
    plan: Plan = field(default_factory=Plan)
    interface: str = ""  # from a contract, like the held-out examples
    held_out: Sequence[HeldOutExample] = ()
    deadline: float | None = None  # in `time.monotonic`; with one, only `QUICK_PIECES` are measured
    skipped_tests: Sequence[str] = ()  # new tests that skip or are expected to fail

    @cached_property
    def code_lines(self) -> dict[str, Set[int]]:
        """The changed lines of files that are no tests and that the tests can reach."""
        return {p: lines for p, lines in self._lines_beside_tests.items() if self._is_tested(p)}

    @property
    def untested_files(self) -> list[str]:
        """The changed files that are no tests and that no test imports, such as build scripts."""
        return sorted(self._lines_beside_tests.keys() - self.code_lines.keys())

    def is_test(self, path: str) -> bool:
        """Return whether a file is a test by its name, or has tests that pytest has run."""
        return is_test_path(path) or path in self.baseline.test_files

    @property
    def _lines_beside_tests(self) -> dict[str, Set[int]]:
        texts = self.runner.tree.texts
        return {
            path: lines
            for path, lines in self.lines.items()
            if lines and path in texts and not self.is_test(path)
        }

    @cached_property
    def has_statements(self) -> bool:
        """Whether a statement outside of tests has changed, or a file that does not parse."""
        texts = self.runner.tree.texts
        return any(
            parse_or_none(texts[path]) is None or find_changed_statements(texts[path], lines)
            for path, lines in self._lines_beside_tests.items()
        )

    def _is_tested(self, path: str) -> bool:
        """Return whether tests import a file, or another file of its package.

        Excluded are files that define nothing and are not imported, such as a generated version
        file, and files that only pytest's collection imports, such as `docs/conf.py`.
        """
        tree = parse_or_none(self.runner.tree.texts[path])
        if tree is None:
            return False
        defines = any(isinstance(node, Definition) for node in ast.walk(tree))
        if path in self.baseline.reached:
            return bool(self.baseline.find_tested_lines(path)) or self._is_imported(path)
        if not defines:
            return False
        folders = path.split("/")[:-1]
        folder = "/".join(folders[: 2 if folders[:1] == ["src"] else 1])
        beside = (item for item in self.baseline.reached if folder)
        return any(i.startswith(f"{folder}/") for i in beside)

    def _is_imported(self, path: str) -> bool:
        """Return whether an import in another file has the name of the module."""
        name = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        named = re.compile(rf"^\s*(from|import)\b.*\b{re.escape(name)}\b", re.MULTILINE)
        texts = self.runner.tree.texts.items()
        return any(named.search(text) for other, text in texts if other != path)

    @property
    def why_no_test(self) -> str:
        """Why there is no new test that could be measured."""
        count = len(self.skipped_tests)
        return f"{SKIPPED_TESTS} ({count} skipped or expected to fail)" if count else NO_NEW_TESTS

    @cached_property
    def context(self) -> GradingContext | str:
        """The context that measures the new tests, or the reason why they cannot be measured."""
        if not self.new_tests:
            return self.why_no_test
        return build_context(self.runner, sorted(self.code_lines), self.new_tests, self.plan)

    def measure_mutation(self) -> Mutation | str:
        """Return the mutation score on the changed lines, or why there is none."""
        why = explain_no_mutants(self.plan, self.runner.box)
        return why or measure_mutants(self.runner, self.code_lines, self.baseline, self.timed_plan)

    @property
    def timed_plan(self) -> Plan:
        """The plan, limited to half of the time left, as CPU time lags behind on a busy machine."""
        if self.deadline is None:
            return self.plan
        left, bounds = max(self.deadline - time.monotonic(), 0.1) / 2, self.plan.thresholds
        bounds = bounds.model_copy(update={"seconds": min(left, bounds.seconds)})
        return replace(self.plan, thresholds=bounds)

    def measure_empty_bodies(self) -> EmptyBodies | str:
        """Run the tests of the changed lines without the bodies of the changed functions."""
        texts = self.runner.tree.texts
        emptied = {p: with_empty_bodies(texts[p], lines) for p, lines in self.code_lines.items()}
        same = {p: with_empty_bodies(texts[p], frozenset()) for p in emptied}
        tests = self._list_mapped_tests()
        if emptied == same:
            return "no function is changed"
        if not tests:
            return "no test runs a changed line"
        found = judge_empty_bodies(self.runner.run(emptied, tests, plain_asserts=True))
        why = found.cut_short or ("" if found.reached else _WEAK)  # weak tests, not a forgery
        return found.model_copy(update={"cut_short": why})

    def _list_mapped_tests(self) -> list[str]:
        found = {
            test
            for path, lines in self.code_lines.items()
            for line in lines & self.baseline.find_tested_lines(path)
            for test in self.baseline.lines[path][line]
        }
        return self.baseline.sort_tests(found)

    def measure_assertion_mutation(self) -> AssertionMutation | str:
        """Change the expected values of the new tests."""
        context = self.context
        return context if isinstance(context, str) else assertion_mutation.measure(context)

    def measure_flakiness(self) -> Flakiness | str:
        """Run the new tests shuffled, with another hash seed; without any, use the baseline."""
        context = self.context
        if not isinstance(context, str):
            return flakiness.measure(context)
        flaky = self.baseline.flaky
        return Flakiness(reached=not flaky, order_seed=0, hash_seed=0, differing=flaky)

    def list_new_functions(self) -> Iterator[TestFunction]:
        """Yield the test functions of the new tests."""
        new = {test.partition("[")[0] for test in self.new_tests}
        for path in sorted({test.partition("::")[0] for test in new}):
            for item in parse_test_functions(self.runner.tree.texts[path]):
                if f"{path}::{item.name}" in new:
                    yield item

    def find_integrity_issues(self) -> Iterator[IntegrityFinding]:
        """Yield the integrity findings on changed lines."""
        texts = self.runner.tree.texts
        tests = [text for path, text in texts.items() if is_test_path(path)]
        for path, lines in self.code_lines.items():
            for item in find_findings(texts[path], tests):
                if item.line in lines:
                    yield IntegrityFinding(line=item.line, what=f"of {path} {item.what}")


def grade_lines(change: ChangedLines, emit: EventSink) -> Evidence:
    """Return the evidence for changed lines whose tests pass; failed measurements are left out.

    Raises SandboxError: the sandbox cannot run anything.
    """
    collector, plan = EvidenceCollector(emit), change.plan
    texts = change.runner.tree.texts
    modules = CalledModules(
        *(change.runner, change.baseline, change.new_tests, plan),
        *(change.interface, change.code_lines, change.why_no_test),
    )
    measures: dict[str, Measurement] = {
        "empty_bodies": change.measure_empty_bodies,
        "flakiness": change.measure_flakiness,
        "coverage": partial(
            measure_coverage,
            *(texts, change.code_lines, change.baseline, plan.thresholds),
        ),
        "assertion_mutation": change.measure_assertion_mutation,
        "isolated": modules.measure_isolation,
        "memorization": modules.measure_memorization,
        "held_out": partial(modules.measure_held_out, change.held_out),
        "mutation": change.measure_mutation,
    }
    if not change.has_statements:
        measures |= dict.fromkeys(CODE_PIECES, lambda: NO_STATEMENT)
    elif not change.code_lines:
        unread = (parse_or_none(texts[path]) is None for path in change.untested_files)
        reason = UNREADABLE if any(unread) else NOT_IMPORTED
        measures |= dict.fromkeys(CODE_PIECES, lambda: reason)
        collector.not_measured["integrity"] = reason
    if change.deadline is not None:
        measures = {key: _stop_at(change.deadline, measures[key]) for key in QUICK_PIECES}
    found: dict[str, Any] = {key: collector.measure(key, item) for key, item in measures.items()}
    collector.raise_if_nothing_runs()
    return Evidence(
        **found,
        integrity=tuple(change.find_integrity_issues()),
        returning=find_returning_tests(change.list_new_functions()),
        thresholds=plan.thresholds,
        seconds=collector.seconds,
        not_measured=collector.not_measured,
    )


def _stop_at(deadline: float, measurement: Measurement) -> Measurement:
    return lambda: OUT_OF_TIME if time.monotonic() >= deadline else measurement()
