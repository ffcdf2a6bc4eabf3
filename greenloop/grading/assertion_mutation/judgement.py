"""Changed tests as judges of what isolation has observed: the code is not run again.

A test with another expected value differs from the original only in the part that never reaches the
process of the code. Where that process has answered what the test expects, in values without an
equality of their own, the changed test must reject the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from greenloop.grading.assertion_mutation.candidates import AssertionMutant
from greenloop.grading.assertion_mutation.runs import AssertionMutationRunner, TestKey
from greenloop.grading.context import GradingContext
from greenloop.grading.isolation.agreement import are_observable, build_request, find_agreement
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.records import AssertionMutation
from greenloop.sandbox.work.scenarios import Observations, RowOutcome
from greenloop.testsuite import TestFile

# Of a class in a payload of `sandbox.guest.scenarios.encoder`.
_OWN_EQUALITY = ']],"own",'


class _ChangedFile(NamedTuple):
    """A test file with mutants, and the text that judges in place of the original's."""

    original: ObservationRequest
    mutants: tuple[AssertionMutant, ...]
    judge: str


def prepare(context: GradingContext) -> None:
    """Plan the changed tests, while other measurements wait for the sandbox."""
    if are_observable(context):
        context.remember(_plan_changes)


def plan_judges(
    context: GradingContext, observed: Sequence[tuple[ObservationRequest, Observations]]
) -> dict[ObservationRequest, list[str]]:
    """Return, for what isolation has observed, the texts of the changed tests that judge it.

    None where an object with an equality of its own was observed: the tests have to be run then.
    """
    requests = {build_request(context, file) for file in context.tests}
    own = (found for request, found in observed if request in requests)
    if not are_observable(context) or any(map(_has_own_equality, own)):
        return {}
    judges: dict[ObservationRequest, list[str]] = {}
    for item in context.remember(_plan_changes):
        judges.setdefault(item.original, []).append(item.judge)
    return judges


def judge_changed_tests(context: GradingContext) -> AssertionMutation | None:
    """Return what the changed tests show; None where they have to be run.

    That is where a passed test was not observed or does not agree, or a changed one does not reject
    what was observed in each of its rows.
    """
    observed: set[TestKey] = set()
    rejecting: set[AssertionMutant] = set()
    for file in context.tests:
        if found := find_agreement(context, file):
            scenarios = context.plan_scenarios(file).scenarios
            observed |= {(file.name, item.test) for item in scenarios}
            rejecting |= set(_find_rejecting(context, file, found))
    runner = context.remember(AssertionMutationRunner)
    mutants = [item for mutants in runner.rounds for item in mutants]
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


def _has_own_equality(found: Observations) -> bool:
    payloads = (payload for row in found.rows for _, payload in row.observations)
    return any(_OWN_EQUALITY in payload for payload in payloads)


def _plan_changes(context: GradingContext) -> tuple[_ChangedFile, ...]:
    """Return the changed files; one that also changes what reaches the code is left out."""
    runner = context.remember(AssertionMutationRunner)
    return tuple(
        _ChangedFile(build_request(context, file), tuple(own), judge)
        for mutants in runner.rounds
        for file in context.tests
        if (own := [item for item in mutants if item.scope.file == file.name])
        and (judge := _plan_judge(runner, file, own))
    )


def _plan_judge(
    runner: AssertionMutationRunner, file: TestFile, mutants: Sequence[AssertionMutant]
) -> str:
    """Return the text that judges a file with these mutants; '' where they reach the code."""
    context, source = runner.context, runner.files[file.name].source
    plan = context.plan_scenarios(file)
    # Without conftest.py each part of the plan is from this file.
    if plan.judge_text and not any(item.name == "conftest.py" for item in context.tests):
        edits = [edit for item in mutants for edit in item.change.edits]
        edited = plan.judge_text.render_edited(source, edits)
        if edited is not None:
            return edited
    changed = next(item for item in runner.apply(mutants) if item.name == file.name)
    again = context.plan_scenarios(changed)
    return again.judge if again.scenario == plan.scenario else ""


def _find_rejecting(
    context: GradingContext, file: TestFile, found: Observed
) -> Iterator[AssertionMutant]:
    """Yield the mutants with which each row of their test differs."""
    if not found.changed:
        return
    original = build_request(context, file)
    changed = [item for item in context.remember(_plan_changes) if item.original == original]
    scenarios = context.plan_scenarios(file).scenarios
    numbers = {item.test: number for number, item in enumerate(scenarios)}
    for item, outcomes in zip(changed, found.changed, strict=True):
        for mutant in item.mutants:
            number = numbers.get(mutant.scope.test)
            rows: list[RowOutcome] = [row for row in outcomes if row.scenario == number]
            if rows and all(row.outcome == "differs" for row in rows):
                yield mutant
