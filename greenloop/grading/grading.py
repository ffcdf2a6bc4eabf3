"""Grading: the pieces of evidence, cheapest first, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from greenloop.grading.integrity import integrity
from greenloop.grading.reruns import flakiness, hollow_run
from greenloop.grading.sealed import sealed_result
from greenloop.records import Evidence, Expectation, RedPhase, SealedExample, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.tested import tested_module
from greenloop.suite import TestFile


@dataclass(frozen=True)
class Thresholds:
    """What the evidence must reach for `verified`; shares between 0 and 1."""

    sealed_agreement: float = 1.0
    mutation_score: float = 0.8

    def as_record(self) -> dict[str, float]:
        return {"sealed_agreement": self.sealed_agreement, "mutation_score": self.mutation_score}


@dataclass(frozen=True)
class Graded:
    """The evidence, and the sealed examples that the code does not agree with."""

    evidence: Evidence
    disagreed: tuple[SealedExample, ...] = ()


def grade(box: Sandbox, code: str, test_code: str) -> Evidence:
    """The evidence for any module and pytest file, without a model.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    module = tested_module(test_code, box.packages.imports)
    tests = [TestFile(f"test_{module}.py", test_code)]
    run = box.run_tests(code, tests, module=module)
    return grade_run(box, code, tests, module, run=run).evidence


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
) -> Graded:
    """The evidence for a run that was green, given what is known from before it.

    What runs in the sandbox runs side by side: mostly it waits for processes.
    """
    steady = partial(flakiness, box, code, tests, module, before=run, expected=expected)
    with ThreadPoolExecutor(3) as side_by_side:
        again = side_by_side.submit(steady)
        hollowed = side_by_side.submit(hollow_run, box, code, tests, module)
        result, disagreed = sealed_result(box, code, module, sealed) if sealed else (None, ())
    evidence = Evidence(
        red_phase=red_phase,
        hollow_run=hollowed.result(),
        sealed=result,
        flakiness=again.result(),
        integrity=integrity(code),
        requirements_untested=tuple(untested),
        thresholds=Thresholds().as_record(),
    )
    return Graded(evidence, disagreed)


def forged(evidence: Evidence) -> bool:
    """Whether the green cannot be the code's own: it stays green, or unreported, when hollowed."""
    return evidence.hollow_run is not None and not evidence.hollow_run.reached


def shortfalls(evidence: Evidence) -> tuple[str, ...]:
    """Why a green is not `verified`, one reason a piece of evidence; () where it is."""
    thresholds = Thresholds()
    found: list[str] = []
    if evidence.red_phase is None or not evidence.red_phase.reached:
        found.append("red phase: not every test was seen to fail on a stub")
    if evidence.hollow_run is None:
        found.append("hollow run: not taken")
    found.extend(_of_sealed(evidence, thresholds))
    if evidence.mutation is None:
        found.append("mutants: not measured by this version")
    elif evidence.mutation.score is None:
        found.append(f"mutants: {evidence.mutation.trouble}")
    elif evidence.mutation.score < thresholds.mutation_score:
        found.append(f"mutants: score {evidence.mutation.score:.2f} < {thresholds.mutation_score}")
    if evidence.flakiness is None or not evidence.flakiness.reached:
        found.append(
            "flakiness: in another order or with another hash seed the tests end otherwise"
        )
    found.extend(f"integrity: line {item.line}: {item.what}" for item in evidence.integrity)
    if evidence.requirements_untested:
        found.append(f"requirements without a test: {', '.join(evidence.requirements_untested)}")
    return tuple(found)


def _of_sealed(evidence: Evidence, thresholds: Thresholds) -> list[str]:
    sealed = evidence.sealed
    if sealed is None or not sealed.total:
        return ["sealed examples: none were given"]
    if sealed.agreed / sealed.total < thresholds.sealed_agreement:
        return [f"sealed examples: {sealed.agreed} of {sealed.total} agree"]
    return []
