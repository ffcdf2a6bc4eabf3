"""Grading: the pieces of evidence, cheapest first, taken side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from greenloop.events import EventSink, ignore_event
from greenloop.grading.assertion_mutation.evidence import measure_assertion_mutation
from greenloop.grading.collector import EvidenceCollector
from greenloop.grading.config import Plan
from greenloop.grading.coverage.measurement import measure_coverage
from greenloop.grading.held_out_examples import check_held_out_examples
from greenloop.grading.integrity import find_integrity_issues
from greenloop.grading.memorization.evidence import replay_calls_without_tests
from greenloop.grading.process_isolation import run_isolated
from greenloop.grading.reruns import Rerun, measure_empty_bodies, rerun_tests
from greenloop.records import (
    Coverage,
    Evidence,
    Expectation,
    Flakiness,
    HeldOut,
    HeldOutExample,
    Mutation,
    RedPhase,
    TestRun,
    Thresholds,
)
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module
from greenloop.testsuite.parser import parse_test_functions
from greenloop.testsuite.quality_gates import find_returning_tests

_MAX_CONCURRENT = 2  # more would make slow tests slower, up to their time limit
_NO_SANDBOX_BACKEND = "without a wall mutants are not run: a fault may do harm"


@dataclass(frozen=True)
class GradeResult:
    """The evidence, and the held-out examples that the code does not agree with."""

    evidence: Evidence
    disagreements: tuple[HeldOutExample, ...] = ()


def grade(box: Sandbox, code: str, test_code: str, plan: Plan | None = None) -> Evidence:
    """The evidence for any module and pytest file, without a model.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    module = find_tested_module(test_code, box.packages.import_names)
    tests = [TestFile(f"test_{module}.py", test_code)]
    run = box.run_tests(code, tests, module=module)
    return grade_run(box, code, tests, module, run=run, plan=plan).evidence


def grade_run(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    run: TestRun,
    expected: Expectation | None = None,
    held_out: Sequence[HeldOutExample] = (),
    red_phase: RedPhase | None = None,
    untested_requirements: Sequence[str] = (),
    plan: Plan | None = None,
    emit: EventSink = ignore_event,
) -> GradeResult:
    """The evidence for a run that was green, given what is known from before it.

    Mutants come last: their time limits need a quiet machine. A piece in which the sandbox fails is
    missing; SandboxError is raised where nothing can be run. `emit` is told in each piece's thread.
    """
    plan, pieces, given = plan or Plan(), EvidenceCollector(emit), (sandbox, code, tests, module)
    limits = plan.thresholds
    with ThreadPoolExecutor(_MAX_CONCURRENT) as pool:
        start = partial(pieces.submit, pool)
        hollowed = start("empty_bodies", partial(measure_empty_bodies, *given))
        again = start("flakiness", partial(rerun_tests, *given, run, expected, limits))
        apart = start("split", partial(run_isolated, *given, first_run=run, expected=expected))
        alone = start("memorization", partial(replay_calls_without_tests, *given))
        controlled = start(
            "assertion_mutation",
            partial(measure_assertion_mutation, *given, first_run=run, thresholds=limits),
        )
        covered = start("coverage", partial(_get_or_measure_coverage, *given, again, run, limits))
        asking = start(
            "held_out", partial(_check_held_out, *given, held_out, limits.held_out_agreement)
        )
    pieces.raise_if_nothing_runs()
    result, disagreed = asking.result() or (None, ())
    evidence = Evidence(
        red_phase=red_phase,
        empty_bodies=hollowed.result(),
        assertion_mutation=controlled.result(),
        split=apart.result(),
        memorization=alone.result(),
        held_out=result,
        mutation=pieces.measure("mutation", partial(_measure_mutation, *given, plan)),
        coverage=covered.result(),
        flakiness=_get_flakiness(again),
        integrity=find_integrity_issues(code),
        requirements_untested=tuple(untested_requirements),
        returning=tuple(
            name for file in tests for name in find_returning_tests(parse_test_functions(file.code))
        ),
        thresholds=limits,
        seconds=pieces.seconds,
        not_measured=pieces.not_measured,
    )
    return GradeResult(evidence, disagreed)


def _get_flakiness(rerun: Future[Rerun | None]) -> Flakiness | None:
    told = rerun.result()
    return told.flakiness if told else None


def _get_or_measure_coverage(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    rerun: Future[Rerun | None],
    first_run: TestRun,
    thresholds: Thresholds,
) -> Coverage | str:
    """As the run for flakiness has told it, which was begun before; else it is measured."""
    told = rerun.result()
    if told is None or told.coverage is None:
        return measure_coverage(
            sandbox, code, tests, module, first_run=first_run, thresholds=thresholds
        )
    return told.coverage


def _check_held_out(
    sandbox: Sandbox,
    code: str,
    _: Sequence[TestFile],
    module: str,
    examples: Sequence[HeldOutExample],
    agreement: float,
) -> tuple[HeldOut | None, tuple[HeldOutExample, ...]]:
    return (
        check_held_out_examples(sandbox, code, module, examples, agreement)
        if examples
        else (None, ())
    )


def _measure_mutation(
    sandbox: Sandbox, code: str, tests: Sequence[TestFile], module: str, plan: Plan
) -> Mutation | str:
    """The record, or why there is none."""
    if plan.mutants == 0:
        return "none were asked for"
    if sandbox.info.backend == "none":
        return _NO_SANDBOX_BACKEND
    how_many, seconds = plan.mutants, plan.thresholds.seconds
    return plan.mutation(
        sandbox, code, tests, module=module, max_mutants=how_many, seed=plan.seed, budget_s=seconds
    )
