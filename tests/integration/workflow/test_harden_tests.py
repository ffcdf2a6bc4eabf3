"""Hardening: tests added for surviving mutants pass the same gates as the first tests."""

from typing import Any

import pytest

from greenloop.events import HardeningDone, Notice, ResponseRejected
from tests.support.model_responses import GOOD_CODE, answers, fence
from tests.support.programs import read_program
from tests.support.workflow_runs import Outcome, RunWorkflow

ZERO = read_program(__file__, "ZERO")
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
CALLS_AT_IMPORT = "\n\nBEST = top_k([1], 1)\n"
WRONG = ZERO.replace("test_zero", "test_none").replace("== []", "== [2]")
# Right on all of GOOD_TESTS, and wrong for k == 0.
WRONG_AT_ZERO = GOOD_CODE.replace("k < 0", "k <= 0")
TEST_IS_WRONG = fence('{"wrong": "test", "because": "R1 demands []"}', "json")


def harden(
    run_workflow: RunWorkflow,
    *added: str,
    code: str = GOOD_CODE,
    rounds: int = 2,
    score: float = 1.0,
    **more: Any,
) -> Outcome:
    """Run with a suite that does not test k == 0, and with answers of harden_tests."""
    texts = [item if "NOTHING" in item else fence(item) for item in added]
    script = answers(generate_code=[fence(code)], harden_tests=texts, **more)
    options: dict[str, Any] = {"mutants": "all", "min_mutation_score": score}
    return run_workflow(script, hardening_rounds=rounds, **options)


def origins(done: Outcome) -> dict[str, str]:
    return {item.id.rpartition("::")[2]: item.origin for item in done.report.tests}


def test_survivor_leads_to_an_added_test(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, ZERO, "NOTHING: the rest changes nothing")
    assert done.report.tests_passed
    assert origins(done)["test_zero"] == "hardening"
    assert "test_zero" in done.report.test_code
    assert "from __future__" not in done.report.test_code
    assert done.events_of(HardeningDone)[0].tests == ("test_zero",)
    assert done.kinds == ["generate"]


def test_prompt_shows_survivors_but_not_the_module(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, "NOTHING: the contract is silent")
    prompt = done.model.list_prompts("harden_tests")[0]
    assert "+    if k <= 0:" in prompt
    assert "test_largest_first" in prompt
    assert GOOD_CODE not in prompt


def test_reached_thresholds_need_no_hardening(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, score=0.1)
    assert done.model.list_prompts("harden_tests") == []
    assert done.report.evidence.mutation is not None
    assert done.report.evidence.mutation.survived


def test_nothing_to_add_leaves_the_run_green(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, "NOTHING: the contract is silent")
    assert done.report.tests_passed
    assert "mutants: " in done.model.list_prompts("harden_tests")[0]
    assert done.report.evidence.mutation is not None
    reasons = {item.reason for item in done.report.evidence.mutation.survived}
    assert reasons == {"the contract is silent"}
    assert len(done.model.list_prompts("harden_tests")) == 1


def test_code_that_fails_an_added_test_is_repaired(run_workflow: RunWorkflow) -> None:
    done = harden(
        run_workflow,
        ZERO,
        "NOTHING: all else is settled",
        code=WRONG_AT_ZERO,
        repair_code=[fence(GOOD_CODE)],
    )
    assert done.report.tests_passed
    assert done.report.final_code == GOOD_CODE
    assert done.report.iterations == 2


@pytest.mark.slow
def test_an_added_test_that_is_wrong_is_judged_and_dropped(run_workflow: RunWorkflow) -> None:
    done = harden(
        run_workflow,
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
def test_code_that_is_never_repaired_fails(run_workflow: RunWorkflow) -> None:
    script = answers(
        generate_code=[fence(WRONG_AT_ZERO)],
        harden_tests=[fence(ZERO)],
        repair_code=[fence(WRONG_AT_ZERO + "\n\n# still\n")],
    )
    done = run_workflow(
        script, hardening_rounds=2, mutants="all", max_repairs=1, min_mutation_score=1.0
    )
    assert done.report.verdict == "failed"
    assert "test_zero" in done.report.reasons[0]


@pytest.mark.slow
def test_added_test_that_passes_on_the_stub_is_dropped(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, ZERO + PROVES_NOTHING, "NOTHING: all else is settled")
    assert done.report.tests_passed
    assert "test_zero" in origins(done)
    assert [item.outcome for item in done.report.tests if item.id.endswith("test_nothing")] == [
        "dropped"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "why"),
    [(ENDS_THE_RUN, "on a stub the run ended"), (CALLS_AT_IMPORT, "cannot be collected")],
)
def test_tests_that_cannot_be_seen_to_fail_on_a_stub_are_not_added(
    run_workflow: RunWorkflow, more: str, why: str
) -> None:
    done = harden(run_workflow, ZERO + more)
    assert done.report.tests_passed
    assert "test_zero" not in origins(done)
    assert not done.events_of(HardeningDone)
    assert any(why in item.text for item in done.events_of(Notice))


@pytest.mark.slow
def test_added_test_with_an_existing_name_is_rejected(run_workflow: RunWorkflow) -> None:
    taken = ZERO.replace("test_zero", "test_negative")
    done = harden(run_workflow, taken, ZERO, "NOTHING: all else is settled")
    assert "test_negative" in done.events_of(ResponseRejected)[0].why
    assert origins(done)["test_zero"] == "hardening"
    assert done.report.test_code.count("def test_negative") == 1


def test_unusable_answer_leaves_the_run_green(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, "I would rather not, NOTHINGNESS", "no, NOTHINGNESS")
    assert done.error is None
    assert done.report.tests_passed
    assert any("no tests were added" in item.text for item in done.events_of(Notice))


@pytest.mark.slow
def test_no_hardening_without_rounds_or_repairs_left(run_workflow: RunWorkflow) -> None:
    done = harden(run_workflow, rounds=0)
    assert "harden_tests" not in done.model.tools
    script = answers(generate_code=[fence(GOOD_CODE)])
    done = run_workflow(script, max_repairs=0, hardening_rounds=2, mutants="all")
    assert "harden_tests" not in done.model.tools
