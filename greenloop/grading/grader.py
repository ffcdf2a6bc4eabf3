"""Grading: the pieces of evidence, cheapest first, taken side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from greenloop.events import Emit, ignore
from greenloop.grading.assertion_mutation.evidence import controls
from greenloop.grading.collector import Pieces
from greenloop.grading.config import Plan
from greenloop.grading.coverage.measurement import coverage
from greenloop.grading.held_out_examples import sealed_result
from greenloop.grading.integrity import integrity
from greenloop.grading.memorization.evidence import asked_outside
from greenloop.grading.process_isolation import split_run
from greenloop.grading.reruns import Again, hollow_run, once_more
from greenloop.records import (
    Coverage,
    Evidence,
    Expectation,
    Flakiness,
    Mutation,
    RedPhase,
    SealedExample,
    SealedResult,
    TestRun,
    Thresholds,
)
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import tested_module
from greenloop.testsuite.parser import test_functions
from greenloop.testsuite.quality_gates import returning

_SIDE_BY_SIDE = 2  # more would make slow tests slower, up to their time limit
_NO_WALL = "without a wall mutants are not run: a fault may do harm"


@dataclass(frozen=True)
class Graded:
    """The evidence, and the sealed examples that the code does not agree with."""

    evidence: Evidence
    disagreed: tuple[SealedExample, ...] = ()


def grade(box: Sandbox, code: str, test_code: str, plan: Plan | None = None) -> Evidence:
    """The evidence for any module and pytest file, without a model.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    module = tested_module(test_code, box.packages.imports)
    tests = [TestFile(f"test_{module}.py", test_code)]
    run = box.run_tests(code, tests, module=module)
    return grade_run(box, code, tests, module, run=run, plan=plan).evidence


def grade_run(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    run: TestRun,
    expected: Expectation | None = None,
    sealed: Sequence[SealedExample] = (),
    red_phase: RedPhase | None = None,
    untested: Sequence[str] = (),
    plan: Plan | None = None,
    emit: Emit = ignore,
) -> Graded:
    """The evidence for a run that was green, given what is known from before it.

    Mutants come last: their time limits need a quiet machine. A piece in which the sandbox fails is
    missing; SandboxError is raised where nothing can be run. `emit` is told in each piece's thread.
    """
    plan, pieces, given = plan or Plan(), Pieces(emit), (box, code, tests, module)
    limits = plan.thresholds
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        start = partial(pieces.start, pool)
        hollowed = start("hollow_run", partial(hollow_run, *given))
        again = start("flakiness", partial(once_more, *given, run, expected, limits))
        apart = start("split", partial(split_run, *given, before=run, expected=expected))
        alone = start("outside", partial(asked_outside, *given))
        controlled = start("controls", partial(controls, *given, before=run, thresholds=limits))
        covered = start("coverage", partial(_coverage, *given, again, run, limits))
        asking = start("sealed", partial(_sealed, *given, sealed, limits.sealed_agreement))
    pieces.raise_if_nothing_runs()
    result, disagreed = asking.result() or (None, ())
    evidence = Evidence(
        red_phase=red_phase,
        hollow_run=hollowed.result(),
        controls=controlled.result(),
        split=apart.result(),
        outside=alone.result(),
        sealed=result,
        mutation=pieces.take("mutation", partial(_mutation, *given, plan)),
        coverage=covered.result(),
        flakiness=_flakiness(again),
        integrity=integrity(code),
        requirements_untested=tuple(untested),
        returning=tuple(name for file in tests for name in returning(test_functions(file.code))),
        thresholds=limits,
        seconds=pieces.seconds,
        not_measured=pieces.not_measured,
    )
    return Graded(evidence, disagreed)


def _flakiness(again: Future[Again | None]) -> Flakiness | None:
    told = again.result()
    return told.flakiness if told else None


def _coverage(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    again: Future[Again | None],
    before: TestRun,
    limits: Thresholds,
) -> Coverage | str:
    """As the run for flakiness has told it, which was begun before; else it is measured."""
    told = again.result()
    if told is None or told.coverage is None:
        return coverage(box, code, tests, module, before=before, thresholds=limits)
    return told.coverage


def _sealed(
    box: Sandbox,
    code: str,
    _: Sequence[TestFile],
    module: str,
    examples: Sequence[SealedExample],
    agreement: float,
) -> tuple[SealedResult | None, tuple[SealedExample, ...]]:
    return sealed_result(box, code, module, examples, agreement) if examples else (None, ())


def _mutation(
    box: Sandbox, code: str, tests: Sequence[TestFile], module: str, plan: Plan
) -> Mutation | str:
    """The record, or why there is none."""
    if plan.mutants == 0:
        return "none were asked for"
    if box.info.backend == "none":
        return _NO_WALL
    how_many, seconds = plan.mutants, plan.thresholds.seconds
    return plan.mutation(
        box, code, tests, module=module, most=how_many, seed=plan.seed, budget_s=seconds
    )
