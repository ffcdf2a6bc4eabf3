"""All evidence together, and the words for what is missing of it."""

from __future__ import annotations

from typing import Any

import pytest

from greenloop.grading import grade
from greenloop.grading.grading import Thresholds, forged, grade_run, shortfalls
from greenloop.records import (
    Evidence,
    Flakiness,
    HollowRun,
    IntegrityFinding,
    Mutation,
    RedPhase,
    SealedExample,
    SealedResult,
)
from greenloop.sandbox.process import ProcessSandbox
from greenloop.suite import TestFile

FULL = Evidence(
    red_phase=RedPhase(reached=True, failed=2),
    hollow_run=HollowRun(reached=True, passed=0, failed=2),
    sealed=SealedResult(reached=True, total=3, agreed=3),
    mutation=Mutation(score=0.8, killed=8),
    flakiness=Flakiness(reached=True, order_seed=1, hash_seed=2),
)


def without(**changes: Any) -> tuple[str, ...]:
    return shortfalls(FULL.model_copy(update=changes))


def test_with_all_evidence_nothing_is_short() -> None:
    assert shortfalls(FULL) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"red_phase": None}, "red phase"),
        ({"red_phase": RedPhase(reached=False, failed=1)}, "red phase"),
        ({"hollow_run": None}, "hollow run: not taken"),
        ({"sealed": None}, "sealed examples: none were given"),
        ({"sealed": SealedResult(reached=False, total=0, agreed=0)}, "none were given"),
        ({"sealed": SealedResult(reached=False, total=3, agreed=2)}, "2 of 3 agree"),
        ({"mutation": None}, "mutants: not measured"),
        ({"mutation": Mutation(score=0.79, killed=7)}, "mutants: score 0.79 < 0.8"),
        ({"flakiness": None}, "flakiness"),
        ({"flakiness": Flakiness(reached=False, order_seed=1, hash_seed=2)}, "flakiness"),
        ({"integrity": (IntegrityFinding(line=3, what="x"),)}, "integrity: line 3: x"),
        ({"requirements_untested": ("R1", "R3")}, "requirements without a test: R1, R3"),
    ],
)
def test_each_missing_piece_is_one_reason(changes: dict[str, Any], said: str) -> None:
    (reason,) = without(**changes)
    assert said in reason


@pytest.mark.parametrize(
    ("hollow", "is_forged"),
    [
        (None, False),
        (HollowRun(reached=True, passed=0, failed=2), False),
        (HollowRun(reached=False, passed=2, failed=0), True),
    ],
)
def test_green_while_hollow_is_forged(hollow: HollowRun | None, is_forged: bool) -> None:
    assert forged(FULL.model_copy(update={"hollow_run": hollow})) is is_forged


CODE = "import gc\ndef double(n): return n * 2\n"
TESTS = "from doubling import double\n\n\ndef test_a():\n    assert double(2) == 4\n"


def test_any_code_and_tests_can_be_graded(box: ProcessSandbox) -> None:
    evidence = grade(box, CODE, TESTS)
    assert evidence.hollow_run == HollowRun(reached=True, passed=0, failed=1)
    assert evidence.flakiness is not None
    assert evidence.flakiness.reached
    assert [item.line for item in evidence.integrity] == [1]
    assert (evidence.sealed, evidence.red_phase, evidence.mutation) == (None, None, None)
    assert evidence.thresholds == Thresholds().as_record()


def test_what_is_known_from_before_the_run_is_handed_on(box: ProcessSandbox) -> None:
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    wrong = SealedExample(call="double(2)", returns="5")
    graded = grade_run(
        box,
        CODE,
        files,
        "doubling",
        run=run,
        sealed=[wrong, SealedExample(call="double('a')", returns="'aa'")],
        red_phase=FULL.red_phase,
        untested=["R2"],
    )
    assert graded.disagreed == (wrong,)
    assert graded.evidence.sealed is not None
    assert (graded.evidence.sealed.agreed, graded.evidence.sealed.total) == (1, 2)
    assert graded.evidence.red_phase == FULL.red_phase
    assert graded.evidence.requirements_untested == ("R2",)
