"""Each kind of evidence turns the verdict by itself, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from greenloop.errors import SettingsError
from greenloop.grading import Plan, forgery, shortfalls
from greenloop.records import (
    AssertionMutation,
    AssertionSurvivor,
    Coverage,
    EmptyBodies,
    Evidence,
    Flakiness,
    HeldOut,
    IntegrityFinding,
    IsolatedRun,
    Memorization,
    Mutation,
    RedPhase,
    Thresholds,
)
from greenloop.reporting.evidence.text import render_evidence_lines
from greenloop.settings import Settings

CONTROLS = AssertionMutation(reached=True, total=4, controlled=4, edits=5)
SHARED = IsolatedRun(
    reached=False, form="shared", why="t.py::test_a: CannotSplit: it evaluates text"
)
BESIDE = SHARED.model_copy(update={"only_beside": ("t.py::test_a",)})
GREEN = AssertionSurvivor(test="t.py::test_a", line=7, change="expects 5")
FULL = Evidence(
    red_phase=RedPhase(reached=True, failed=2),
    hollow_run=EmptyBodies(reached=True, passed=0, failed=2),
    controls=CONTROLS,
    sealed=HeldOut(reached=True, total=3, agreed=3),
    mutation=Mutation(score=0.8, killed=8),
    coverage=Coverage(line=0.9, branch=0.8),
    flakiness=Flakiness(reached=True, order_seed=1, hash_seed=2),
)


def less(record: Any, **changes: Any) -> Any:
    return record.model_copy(update=changes)


LATE = {"reached": False, "cut_short": "out of time after 1 of 4 runs"}


def test_that_tests_need_one_process_is_told_and_not_held_against_them() -> None:
    shared = less(FULL, split=SHARED)
    assert (shortfalls(shared), forgery(shared)) == ((), "")
    assert "  --     split        in one process only: t.py::test_a" in "\n".join(
        render_evidence_lines(shared)
    )


def test_with_all_evidence_nothing_is_short() -> None:
    assert shortfalls(FULL) == ()
    assert forgery(FULL) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"red_phase": None}, "red phase"),
        ({"red_phase": RedPhase(reached=False, failed=1)}, "red phase"),
        ({"split": BESIDE}, "passes only beside its tests: t.py::test_a"),
        ({"hollow_run": None}, "hollow run: not taken"),
        ({"hollow_run": less(FULL.hollow_run, **LATE)}, "hollow run: out of time after 1"),
        ({"controls": None}, "controls: not taken"),
        ({"controls": less(CONTROLS, reached=False, controlled=1)}, "controls: 1 of 4 tests"),
        (
            {"controls": less(CONTROLS, reached=False, green=(GREEN,))},
            "test_a stays green when line 7",
        ),
        ({"controls": less(CONTROLS, **LATE)}, "controls: out of time after 1 of 4"),
        ({"sealed": None}, "sealed examples: none were given"),
        ({"sealed": HeldOut(reached=False, total=0, agreed=0)}, "none were given"),
        ({"sealed": HeldOut(reached=False, total=3, agreed=2)}, "2 of 3 agree"),
        ({"sealed": less(FULL.sealed, **LATE)}, "sealed examples: out of time"),
        ({"mutation": None}, "mutants: not measured"),
        ({"mutation": Mutation(score=0.79, killed=7)}, "mutants: score 0.79 < 0.8"),
        ({"mutation": less(FULL.mutation, score=None, trouble="3 of 9")}, "mutants: 3 of 9"),
        ({"mutation": less(FULL.mutation, trouble="3 of 9")}, "mutants: 3 of 9"),
        ({"coverage": None, "not_measured": {"coverage": "why"}}, "coverage: not measured: why"),
        (
            {"coverage": Coverage(line=0.89, branch=0.8, missed_lines=(3, 5))},
            "coverage: 89% of lines < 90%: 3, 5",
        ),
        (
            {"coverage": Coverage(line=1, branch=0.79, missed_branches=("3->5",))},
            "coverage: 79% of branches < 80%: 3->5",
        ),
        ({"flakiness": None}, "flakiness: not taken"),
        ({"flakiness": less(FULL.flakiness, reached=False, differing=("t",))}, "otherwise: t"),
        ({"flakiness": less(FULL.flakiness, **LATE)}, "flakiness: out of time"),
        ({"integrity": (IntegrityFinding(line=3, what="x"),)}, "integrity: line 3: x"),
        ({"requirements_untested": ("R1", "R3")}, "requirements without a test: R1, R3"),
        ({"returning": ("test_a", "test_b")}, "and assert nothing: test_a, test_b"),
    ],
)
def test_each_piece_that_is_short_is_one_reason(changes: dict[str, Any], said: str) -> None:
    (reason,) = shortfalls(less(FULL, **changes))
    assert said in reason


def test_thresholds_are_what_the_evidence_was_measured_against() -> None:
    strict = Thresholds(mutation_score=0.9, line_coverage=0.95, branch_coverage=0.85)
    assert len(shortfalls(less(FULL, thresholds=strict))) == 3
    lax = Thresholds(mutation_score=0.1)
    assert shortfalls(less(FULL, mutation=Mutation(score=0.2, killed=1), thresholds=lax)) == ()


def test_without_a_contract_there_is_no_stub_and_no_sealed_example() -> None:
    assert shortfalls(less(FULL, red_phase=None, sealed=None), contracted=False) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hollow_run": None}, ""),
        (
            {"hollow_run": EmptyBodies(reached=False, passed=2, failed=0)},
            "every function body removed",
        ),
        ({"hollow_run": less(FULL.hollow_run, **LATE)}, ""),
        ({"controls": less(CONTROLS, reached=False, green=(GREEN,))}, ""),
        ({"controls": less(CONTROLS, reached=False, forged="t, line 7: why")}, "t, line 7: why"),
    ],
)
def test_only_what_nothing_else_explains_is_a_forgery(changes: dict[str, Any], said: str) -> None:
    found = forgery(less(FULL, **changes))
    assert (said in found) if said else not found


def test_thresholds_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("GREENLOOP_MIN_MUTATION_SCORE", "0.5"),
        ("GREENLOOP_MIN_CONTROLLED", "0.25"),
        ("GREENLOOP_MIN_LINE_COVERAGE", "0.75"),
        ("GREENLOOP_MIN_BRANCH_COVERAGE", "0.125"),
        ("GREENLOOP_MIN_SEALED_AGREEMENT", "0.625"),
        ("GREENLOOP_GRADING_SECONDS", "9"),
    ):
        monkeypatch.setenv(name, value)
    assert Plan.from_settings(Settings.load()).thresholds == Thresholds(
        mutation_score=0.5,
        controlled=0.25,
        line_coverage=0.75,
        branch_coverage=0.125,
        sealed_agreement=0.625,
        seconds=9,
    )
    monkeypatch.setenv("GREENLOOP_MIN_CONTROLLED", "50")
    with pytest.raises(SettingsError, match="GREENLOOP_MIN_CONTROLLED"):
        Settings.load()


def test_defaults_of_the_settings_are_those_of_the_record() -> None:
    assert Settings.load().thresholds == Thresholds()


def test_what_answers_otherwise_or_by_heart_is_not_verified() -> None:
    other = Memorization(reached=False, asked=3, otherwise=("f(1)",))
    told = shortfalls(less(FULL, outside=other))
    assert told == ("answers otherwise outside of its tests: `f(1)`",)
    heart = Memorization(reached=False, asked=3, like_them=9, by_heart=("f",))
    unsealed = less(FULL, outside=heart, sealed=None)
    assert any(text.startswith("by heart: `f`") for text in shortfalls(unsealed, contracted=False))
    assert shortfalls(less(FULL, outside=heart)) == ()  # sealed examples agree: it knows more
    assert shortfalls(less(FULL, outside=Memorization(reached=True, asked=3))) == ()
    lines = "\n".join(render_evidence_lines(less(FULL, outside=heart)))
    assert "SHORT  outside      answers only what the tests ask: f" in lines
