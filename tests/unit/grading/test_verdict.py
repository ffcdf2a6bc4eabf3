"""Each piece of evidence decides the verdict by itself, with a reason."""

from typing import Any
from unittest.mock import Mock

import pytest

from greenloop.errors import SettingsError
from greenloop.grading import Plan, forgery, shortfalls
from greenloop.grading.collector import EvidenceCollector
from greenloop.records import (
    AssertionMutation,
    AssertionSurvivor,
    Coverage,
    EmptyBodies,
    Evidence,
    Flakiness,
    HeldOut,
    IntegrityFinding,
    Isolated,
    Memorization,
    Mutation,
    Peer,
    RedPhase,
    Thresholds,
)
from greenloop.reporting.evidence.text import render_evidence_lines
from greenloop.settings import Settings

ASSERTIONS = AssertionMutation(reached=True, total=4, controlled=4, edits=5)
ISOLATED = Isolated(reached=True, tests=4, observed=2, agreed=2, answers=5, own_answers=2)
GREEN = AssertionSurvivor(test="t.py::test_a", line=7, change="expects 5")
FULL = Evidence(
    red_phase=RedPhase(reached=True, failed=2),
    empty_bodies=EmptyBodies(reached=True, passed=0, failed=2),
    assertion_mutation=ASSERTIONS,
    isolated=ISOLATED,
    held_out=HeldOut(reached=True, total=3, agreed=3),
    peer=Peer(inputs=90, allowed=60, agreed=60),
    read_against_text=True,
    mutation=Mutation(score=0.8, killed=8),
    coverage=Coverage(line=0.9, branch=0.8),
    flakiness=Flakiness(reached=True, order_seed=1, hash_seed=2),
)


def less(record: Any, **changes: Any) -> Any:
    return record.model_copy(update=changes)


TIMEOUT = {"reached": False, "cut_short": "out of time after 1 of 4 runs"}


def test_full_evidence_has_no_shortfall() -> None:
    assert shortfalls(FULL) == ()
    assert forgery(FULL) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"red_phase": None}, "without the code"),
        ({"red_phase": RedPhase(reached=False, failed=1)}, "without the code"),
        (
            {"isolated": less(ISOLATED, differing=("test_a",))},
            "isolation: has the expected result only in the process of the tests: test_a",
        ),
        (
            {"isolated": less(ISOLATED, ambiguous=("Wrong",))},
            "isolation: Wrong: it meets expectations that exclude each other",
        ),
        (
            {"isolated": less(ISOLATED, own_answers=3), "read_against_text": False, "peer": None},
            "isolation: 3 of 5 answers can be compared only by operators of the code",
        ),
        (
            {"peer": Peer(inputs=458, allowed=458, agreed=22)},
            "second implementation: only 458 inputs were compared, and 22 of them agree (at least 50)",
        ),
        ({"empty_bodies": None}, "empty bodies: not measured"),
        ({"empty_bodies": less(FULL.empty_bodies, **TIMEOUT)}, "empty bodies: out of time after 1"),
        ({"assertion_mutation": None}, "assertion mutation: not measured"),
        (
            {"assertion_mutation": less(ASSERTIONS, reached=False, controlled=1)},
            "assertion mutation: 1 of 4 tests",
        ),
        (
            {"assertion_mutation": less(ASSERTIONS, reached=False, green=(GREEN,))},
            "test_a stays green when line 7",
        ),
        (
            {"assertion_mutation": less(ASSERTIONS, **TIMEOUT)},
            "assertion mutation: out of time after 1 of 4",
        ),
        ({"held_out": None}, "held-out examples: none were given"),
        ({"held_out": HeldOut(reached=False, total=0, agreed=0)}, "none were given"),
        ({"held_out": HeldOut(reached=False, total=3, agreed=2)}, "2 of 3 agree"),
        ({"held_out": less(FULL.held_out, **TIMEOUT)}, "held-out examples: out of time"),
        ({"mutation": None}, "mutants: not measured"),
        (
            {"mutation": Mutation(score=0.79, killed=7)},
            "mutants: 79% (at least 80%) of ",
        ),
        ({"mutation": less(FULL.mutation, score=None, trouble="3 of 9")}, "mutants: 3 of 9"),
        ({"mutation": less(FULL.mutation, trouble="3 of 9")}, "mutants: 3 of 9"),
        ({"coverage": None, "not_measured": {"coverage": "why"}}, "coverage: not measured: why"),
        (
            {"coverage": Coverage(line=0.89, branch=0.8, missed_lines=(3, 5))},
            "lines: 89% (at least 90%); never reached: 3, 5",
        ),
        (
            {"coverage": Coverage(line=1, branch=0.79, missed_branches=("3->5",))},
            "branches: 79% (at least 80%); never reached: 3->5",
        ),
        ({"flakiness": None}, "flakiness: not measured"),
        (
            {"flakiness": less(FULL.flakiness, reached=False, differing=("t",))},
            "another hash seed: t",
        ),
        ({"flakiness": less(FULL.flakiness, **TIMEOUT)}, "flakiness: out of time"),
        ({"integrity": (IntegrityFinding(line=3, what="x"),)}, "integrity: line 3: x"),
        ({"requirements_untested": ("R1", "R3")}, "requirements without a test: R1, R3"),
        ({"returning": ("test_a", "test_b")}, "and assert nothing: test_a, test_b"),
    ],
)
def test_each_short_piece_is_one_reason(changes: dict[str, Any], said: str) -> None:
    (reason,) = shortfalls(less(FULL, **changes))
    assert said in reason


@pytest.mark.parametrize(
    ("share", "threshold", "shown"),
    [
        (0.8, 0.8, "80% (at least 80%)"),
        (0.7963, 0.8, "79.6% (at least 80%)"),
        (0.7999, 0.8, "79.99% (at least 80%)"),
        (0.8966, 0.9, "89.7% (at least 90%)"),
        (0.896, 0.895, "90% (at least 89.5%)"),
        (0.894, 0.895, "89% (at least 89.5%)"),
        (0.999, 0.9, "99.9% (at least 90%)"),
        (0.29, 0.29, "29% (at least 29%)"),
        (1.0, 1.0, "100% (at least 100%)"),
        (0.0, 0.5, "0% (at least 50%)"),
    ],
)
def test_a_share_is_shown_on_its_side_of_the_threshold(
    share: float, threshold: float, shown: str
) -> None:
    limits = Thresholds(line_coverage=threshold, mutation_score=threshold)
    rows = [
        next(Coverage(line=share, branch=1).summary(limits)),
        next(Mutation(score=share, killed=1).summary(limits)),
    ]
    assert all(shown in row.text for row in rows)
    assert {row.reached for row in rows} == {share >= threshold}


def test_evidence_is_compared_with_its_own_thresholds() -> None:
    strict = Thresholds(mutation_score=0.9, line_coverage=0.95, branch_coverage=0.85)
    assert len(shortfalls(less(FULL, thresholds=strict))) == 3
    lax = Thresholds(mutation_score=0.1)
    assert shortfalls(less(FULL, mutation=Mutation(score=0.2, killed=1), thresholds=lax)) == ()


def test_without_a_contract_no_stub_and_no_held_out_example_is_needed() -> None:
    assert (
        shortfalls(
            less(FULL, red_phase=None, held_out=None, peer=None, read_against_text=False),
            contracted=False,
        )
        == ()
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"empty_bodies": None}, ""),
        (
            {"empty_bodies": EmptyBodies(reached=False, passed=2, failed=0)},
            "every function body removed",
        ),
        ({"empty_bodies": less(FULL.empty_bodies, **TIMEOUT)}, ""),
        ({"assertion_mutation": less(ASSERTIONS, reached=False, green=(GREEN,))}, ""),
        (
            {"assertion_mutation": less(ASSERTIONS, reached=False, forged="t, line 7: why")},
            "t, line 7: why",
        ),
    ],
)
def test_a_forgery_is_what_nothing_else_explains(changes: dict[str, Any], said: str) -> None:
    found = forgery(less(FULL, **changes))
    assert (said in found) if said else not found


def test_thresholds_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("GREENLOOP_MIN_MUTATION_SCORE", "0.5"),
        ("GREENLOOP_MIN_ASSERTION_MUTATION", "0.25"),
        ("GREENLOOP_MIN_LINE_COVERAGE", "0.75"),
        ("GREENLOOP_MIN_BRANCH_COVERAGE", "0.125"),
        ("GREENLOOP_MIN_HELD_OUT_AGREEMENT", "0.625"),
        ("GREENLOOP_GRADING_SECONDS", "9"),
    ):
        monkeypatch.setenv(name, value)
    assert Plan.from_settings(Settings.load()).thresholds == Thresholds(
        mutation_score=0.5,
        assertion_mutation=0.25,
        line_coverage=0.75,
        branch_coverage=0.125,
        held_out_agreement=0.625,
        seconds=9,
    )
    monkeypatch.setenv("GREENLOOP_MIN_ASSERTION_MUTATION", "50")
    with pytest.raises(SettingsError, match="GREENLOOP_MIN_ASSERTION_MUTATION"):
        Settings.load()


def test_defaults_of_the_settings_are_those_of_the_record() -> None:
    assert Settings.load().thresholds == Thresholds()


def test_a_piece_of_evidence_that_breaks_is_not_measured_and_ends_no_run() -> None:
    collector = EvidenceCollector()
    assert collector.measure("flakiness", Mock(side_effect=KeyError("a\nb"))) is None
    assert collector.not_measured == {"flakiness": "greenloop failed: KeyError: 'a\\nb'"}


def test_memorized_answers_are_not_verified() -> None:
    memorized = Memorization(reached=False, calls=3, variants=9, functions=("f",))
    without = less(FULL, memorization=memorized, held_out=None)
    assert any(
        text.startswith("memorization: returns results only")
        for text in shortfalls(without, contracted=False)
    )
    assert shortfalls(less(FULL, memorization=memorized)) == ()  # held-out examples agree
    assert shortfalls(less(FULL, memorization=Memorization(reached=True, calls=3))) == ()
    lines = "\n".join(render_evidence_lines(less(FULL, memorization=memorized)))
    assert (
        "SHORT  memorization       returns results only for the inputs of the tests; "
        "test more inputs, or if none are valid, check with a text (--spec): `f`" in lines
    )


@pytest.mark.parametrize(
    ("unsteady", "differing", "is_steady", "accused"),
    [
        ("t.py::test_a[1]", ("test_a",), True, True),
        ("t.py::test_a", ("test_b",), True, False),
        ("t.py::test_a", ("test_a",), False, False),
        ("", ("test_a",), True, False),
    ],
)
def test_a_test_that_needs_the_text_of_its_file_is_forged_where_isolation_differs_too(
    unsteady: str,
    differing: tuple[str, ...],
    is_steady: bool,
    accused: bool,
) -> None:
    isolated = less(ISOLATED, differing=differing)
    evidence = less(
        FULL,
        assertion_mutation=less(ASSERTIONS, unsteady=unsteady),
        isolated=isolated,
        flakiness=Flakiness(reached=is_steady, order_seed=1, hash_seed=2),
    )
    assert bool(forgery(evidence)) is accused
