"""Mutants that live on are answered with tests, which have to earn their place like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from greenloop.events import HardeningDone, Notice, ResponseRejected
from tests.support.model_responses import GOOD_CODE, answers, fenced

if TYPE_CHECKING:
    from tests.unit.workflow.conftest import Outcome, Way

ZERO = '''from __future__ import annotations

from topk import top_k


def test_zero():
    """R1: none of them."""
    assert top_k([2, 1], 0) == []
'''
PROVES_NOTHING = '''

def test_nothing():
    """R1: nothing."""
    assert top_k is not None
'''
ENDS_THE_RUN = '''

def test_end():
    """R1: nothing."""
    __import__("os")._exit(3)
'''
WRONG = ZERO.replace("test_zero", "test_none").replace("== []", "== [2]")
# Right on all of GOOD_TESTS, and wrong for k == 0.
WRONG_AT_ZERO = GOOD_CODE.replace("k < 0", "k <= 0")
TEST_IS_WRONG = fenced('{"wrong": "test", "because": "R1 demands []"}', "json")


def hardened(way: Way, *added: str, code: str = GOOD_CODE, rounds: int = 2, **more: Any) -> Outcome:
    """A run whose suite leaves k == 0 open, and what is answered to that."""
    texts = [item if "NOTHING" in item else fenced(item) for item in added]
    script = answers(generate_code=[fenced(code)], harden_tests=texts, **more)
    return way(script, hardening_rounds=rounds, mutants="all")


def origins(done: Outcome) -> dict[str, str]:
    return {item.id.rpartition("::")[2]: item.origin for item in done.report.tests}


def test_a_survivor_is_shown_and_a_test_added(way: Way) -> None:
    done = hardened(way, ZERO, "NOTHING: the rest changes nothing")
    assert done.report.tests_passed
    assert origins(done)["test_zero"] == "hardening"
    assert "test_zero" in done.report.test_code
    assert "from __future__" not in done.report.test_code
    assert done.told(HardeningDone)[0].tests == ("test_zero",)
    assert done.kinds == ["generate"]


def test_what_is_shown_is_the_survivor_and_not_the_module(way: Way) -> None:
    done = hardened(way, "NOTHING: the contract is silent")
    prompt = done.model.asked("harden_tests")[0]
    assert "+    if k <= 0:" in prompt
    assert "test_largest_first" in prompt
    assert GOOD_CODE not in prompt


def test_nothing_to_add_ends_it_green(way: Way) -> None:
    done = hardened(way, "NOTHING: the contract is silent")
    assert done.report.tests_passed
    assert len(done.model.asked("harden_tests")) == 1


def test_code_that_fails_an_added_test_is_repaired(way: Way) -> None:
    done = hardened(
        way,
        ZERO,
        "NOTHING: all else is settled",
        code=WRONG_AT_ZERO,
        repair_code=[fenced(GOOD_CODE)],
    )
    assert done.report.tests_passed
    assert done.report.final_code == GOOD_CODE
    assert done.report.iterations == 1


@pytest.mark.slow
def test_an_added_test_that_is_wrong_is_judged_and_dropped(way: Way) -> None:
    done = hardened(
        way,
        WRONG,
        "NOTHING: all else is settled",
        repair_code=["DISPUTE test_none: R1 demands []"],
        judge_test=[TEST_IS_WRONG],
    )
    assert done.report.tests_passed
    dropped = [item for item in done.report.tests if item.outcome == "dropped"]
    assert [(item.origin, item.disputed) for item in dropped] == [("hardening", True)]
    assert done.report.final_code == GOOD_CODE


@pytest.mark.slow
def test_code_that_is_never_mended_fails(way: Way) -> None:
    script = answers(
        generate_code=[fenced(WRONG_AT_ZERO)],
        harden_tests=[fenced(ZERO)],
        repair_code=[fenced(WRONG_AT_ZERO + "\n\n# still\n")],
    )
    done = way(script, hardening_rounds=2, mutants="all", max_repairs=1)
    assert done.report.verdict == "failed"
    assert "test_zero" in done.report.reasons[0]


@pytest.mark.slow
def test_an_added_test_that_proves_nothing_is_set_aside(way: Way) -> None:
    done = hardened(way, ZERO + PROVES_NOTHING, "NOTHING: all else is settled")
    assert done.report.tests_passed
    assert "test_zero" in origins(done)
    assert [item.outcome for item in done.report.tests if item.id.endswith("test_nothing")] == [
        "dropped"
    ]


@pytest.mark.slow
def test_tests_that_end_the_run_are_not_said_to_be_added(way: Way) -> None:
    done = hardened(way, ZERO + ENDS_THE_RUN)
    assert done.report.tests_passed
    assert "test_zero" not in origins(done)
    assert not done.told(HardeningDone)
    assert any("on a stub the run ended" in item.text for item in done.told(Notice))


@pytest.mark.slow
def test_a_name_that_is_taken_is_sent_back(way: Way) -> None:
    taken = ZERO.replace("test_zero", "test_negative")
    done = hardened(way, taken, ZERO, "NOTHING: all else is settled")
    assert "test_negative" in done.told(ResponseRejected)[0].why
    assert origins(done)["test_zero"] == "hardening"
    assert done.report.test_code.count("def test_negative") == 1


def test_nonsense_costs_the_green_nothing(way: Way) -> None:
    done = hardened(way, "I would rather not, NOTHINGNESS", "no, NOTHINGNESS")
    assert done.error is None
    assert done.report.tests_passed
    assert any("no tests were added" in item.text for item in done.told(Notice))


@pytest.mark.slow
def test_without_rounds_or_repairs_nobody_is_asked(way: Way) -> None:
    done = hardened(way, rounds=0)
    assert "harden_tests" not in done.model.tools
    script = answers(generate_code=[fenced(GOOD_CODE)])
    done = way(script, max_repairs=0, hardening_rounds=2, mutants="all")
    assert "harden_tests" not in done.model.tools
