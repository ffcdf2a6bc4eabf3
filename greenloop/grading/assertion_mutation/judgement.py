"""Changed tests as judges of what isolation has observed: the code is not run again.

A test with another expected value differs from the original only in the part that never reaches the
process of the code. Where that process has answered what the test expects, in values without
operators of their own, the changed test must reject the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.grading.assertion_mutation.candidates import AssertionMutant
from greenloop.grading.assertion_mutation.runs import (
    AssertionMutationRunner,
    TestKey,
    plan_rounds,
)
from greenloop.grading.context import GradingContext
from greenloop.grading.isolation.agreement import are_observable, build_request, find_agreement
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.records import AssertionMutation
from greenloop.sandbox.work.scenarios import RowOutcome
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios import ScenarioFile


@dataclass(frozen=True)
class _ChangedFile:
    """A test file with mutants, and the text that judges in place of the original's."""

    name: str
    mutants: tuple[AssertionMutant, ...]
    judge: str


def plan_requests(context: GradingContext) -> list[ObservationRequest]:
    """Return what isolation observes first of each test file, with the texts of changed tests."""
    return [
        replace(
            build_request(context, file),
            changed=tuple(item.judge for item in _get_changed(context, file)),
        )
        for file in context.tests
        if context.plan_scenarios(file).scenarios
    ]


def judge_changed_tests(context: GradingContext) -> AssertionMutation | None:
    """Return what the changed tests show; None where they have to be run.

    That is where a passed test was not observed or does not agree, or a changed one does not reject
    what was observed in each of its rows.
    """
    observed: set[TestKey] = set()
    rejecting: set[AssertionMutant] = set()
    for file in context.tests:
        plan = context.plan_scenarios(file)
        if found := find_agreement(context, file):
            observed |= {(file.name, item.test) for item in plan.scenarios}
            rejecting |= set(_find_rejecting(_get_changed(context, file), plan, found))
    runner = context.remember(AssertionMutationRunner)
    mutants = [item for mutants in plan_rounds(runner) for item in mutants]
    if not mutants or not observed.issuperset(runner.passed) or not rejecting.issuperset(mutants):
        return None
    changed = {item.scope.key for item in mutants}
    return AssertionMutation(
        reached=len(changed) / len(runner.passed) >= context.thresholds.assertion_mutation,
        total=len(runner.passed),
        controlled=len(changed),
        edits=len(mutants),
        uncontrolled=tuple("::".join(key) for key in runner.passed if key not in changed),
    )


def _get_changed(context: GradingContext, file: TestFile) -> list[_ChangedFile]:
    return [item for item in context.remember(_plan_changes) if item.name == file.name]


def _plan_changes(context: GradingContext) -> tuple[_ChangedFile, ...]:
    """Return the changed files; none where a test is not observed, as it has to be run anyway.

    A change of what reaches the process of the code is left out.
    """
    if not are_observable(context):
        return ()
    runner = context.remember(AssertionMutationRunner)
    return tuple(
        _ChangedFile(file.name, tuple(own), plan.judge)
        for mutants in plan_rounds(runner)
        for file, changed in zip(context.tests, runner.apply(mutants), strict=True)
        if (own := [item for item in mutants if item.scope.file == file.name])
        and (plan := context.plan_scenarios(changed)).scenario
        == context.plan_scenarios(file).scenario
    )


def _find_rejecting(
    changed: Sequence[_ChangedFile], plan: ScenarioFile, found: Observed
) -> Iterator[AssertionMutant]:
    """Yield the mutants with which each row of their test differs."""
    numbers = {item.test: number for number, item in enumerate(plan.scenarios)}
    for item, outcomes in zip(changed, found.changed, strict=True):
        for mutant in item.mutants:
            number = numbers.get(mutant.scope.test)
            rows: list[RowOutcome] = [row for row in outcomes if row.scenario == number]
            if rows and all(row.outcome == "differs" for row in rows):
                yield mutant
