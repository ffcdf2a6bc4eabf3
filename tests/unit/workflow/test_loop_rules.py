"""Rules of the loop on a sandbox that answers from a table: each test fails when its rule is broken."""

from pathlib import Path

import pytest

from greenloop.app.run_list import find_interrupted_run
from greenloop.errors import (
    BudgetExhaustedError,
    InputError,
    ReplayExhaustedError,
    SandboxError,
    UnusableCodeError,
)
from greenloop.events import DisputeJudged, RunFinished, Stuck
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.model_responses import (
    BETTER_CODE,
    DISPUTE,
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    TEST_IS_WRONG,
    WRONG_CODE,
    WRONG_SUITE,
    WRONG_TEST,
    answers,
    contract_answer,
    fence,
    script,
    suite_answer,
)
from tests.support.scripted import message
from tests.support.workflow_runs import RunWorkflow

CODE_IS_WRONG = fence('{"wrong": "code", "because": "the test follows from R1"}', "json")
TEXT_IS_WRONG = fence('{"wrong": "text", "because": "largest first against [1]"}', "json")
# Fails test_negative only, like BETTER_CODE, but with another text, so with another signature.
OTHER_WRONG = "def top_k(xs, k):\n    if k < 0:\n        raise KeyError('no')\n    return sorted(xs, reverse=True)[:k]\n"
# Repairs test_negative and breaks the other two.
BREAKING = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return None\n"


# --- Tests come from the contract, not from the code


def test_prompts_for_tests_do_not_show_the_code(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(
            generate_code=[fence(WRONG_CODE)],
            generate_tests=[suite_answer(GOOD_TESTS.replace("R2", "R7")), WRONG_SUITE],
            repair_code=[DISPUTE + "\n" + fence(GOOD_CODE)],
            judge_test=[TEST_IS_WRONG],
        )
    )
    assert done.report.verdict == "passed"
    blind = done.model.list_prompts("generate_tests") + done.model.list_prompts("judge_test")
    assert len(blind) == 3
    for text in blind:
        assert "sorted(xs" not in text


def test_prompts_for_code_do_not_show_held_out_examples(run_workflow: RunWorkflow) -> None:
    done = run_workflow(script(WRONG_CODE, BETTER_CODE, GOOD_CODE))
    writers = [
        text
        for tool in ("generate_code", "review_code", "repair_code")
        for text in done.model.list_prompts(tool)
    ]
    assert len(writers) == 5  # the repaired code is reviewed too
    for text in writers:
        assert "[9, 7]" not in text


# --- Tests have to fail on a stub


def test_tests_that_pass_on_the_stub_are_sent_back_with_the_reason(
    run_workflow: RunWorkflow,
) -> None:
    lazy = GOOD_TESTS + '\n\ndef test_lazy():\n    """R1: nothing."""\n    assert True\n'
    done = run_workflow(answers(generate_tests=[suite_answer(lazy), suite_answer()]))
    asked = done.model.list_prompts("generate_tests")
    assert len(asked) == 2
    assert "test_lazy does not fail on a module whose functions all raise" in asked[1]
    assert done.report.evidence.red_phase is not None
    assert done.report.evidence.red_phase.reached


def test_tests_that_still_pass_on_the_stub_are_dropped(run_workflow: RunWorkflow) -> None:
    lazy = suite_answer(
        GOOD_TESTS + '\n\ndef test_lazy():\n    """R1: nothing."""\n    assert True\n'
    )
    report = run_workflow(answers(generate_tests=[lazy, lazy])).report
    assert "test_lazy" not in report.test_code
    assert [item.outcome for item in report.tests if "test_lazy" in item.id] == ["dropped"]
    assert report.evidence.red_phase is not None
    assert report.evidence.red_phase.passing_on_stub == ("test_topk.py::test_lazy",)


_RETURNING = '\n\ndef test_given_back():\n    """R1: one."""\n    return top_k([1], 1) == [1]\n'


def test_tests_that_still_return_a_value_are_dropped(run_workflow: RunWorkflow) -> None:
    returning = suite_answer(GOOD_TESTS + _RETURNING)
    report = run_workflow(answers(generate_tests=[returning, returning])).report
    assert "test_given_back" not in report.test_code
    (entry,) = (item for item in report.tests if "test_given_back" in item.id)
    assert entry.outcome == "dropped"


def test_given_tests_are_locked(run_workflow: RunWorkflow) -> None:
    """A dispute of a user test is not judged, and the test stays."""
    mine = GivenTests.from_code(
        "test_mine.py",
        "from topk import top_k\n\n\ndef test_mine():\n    assert top_k([1, 2], 1) == [1]\n",
    )
    done = run_workflow(
        answers(
            generate_code=[fence(GOOD_CODE)],
            repair_code=["DISPUTE test_mine: R1 demands [2]\n" + fence(OTHER_WRONG)],
        ),
        given=(mine,),
        max_repairs=1,
    )
    assert done.report.verdict == "failed"
    assert done.model.list_prompts("judge_test") == []
    assert [item.outcome for item in done.report.tests if item.origin == "given"] == ["failed"]


# --- Review first


def test_review_errors_are_repaired_before_the_first_run(run_workflow: RunWorkflow) -> None:
    review = "- L3 error: the order is wrong for [1, 2]\n- L1 style: short name"
    done = run_workflow(script(WRONG_CODE, GOOD_CODE, review_code=[review]))
    assert done.kinds == ["generate", "review-repair"]
    assert done.report.attempts[0].passed is None  # the reviewed code was never run
    assert done.report.attempts[1].failed == 0
    assert [(item.severity, item.resolved) for item in done.report.review] == [
        ("error", True),
        ("style", False),
    ]
    assert "the order is wrong for [1, 2]" in done.model.list_prompts("repair_code")[0]
    assert "short name" not in done.model.list_prompts("repair_code")[0]
    assert (done.report.iterations, done.report.repairs) == (1, 0)


def test_review_warnings_are_reported_without_a_repair(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers(review_code=["- L1 warning: slow"]))
    assert done.kinds == ["generate"]
    assert [item.message for item in done.report.review] == ["slow"]


def test_a_warning_that_stays_keeps_the_verdict_at_passed(run_workflow: RunWorkflow) -> None:
    review = "- L6 warning: slow for huge lists\n- L1 style: short name"
    done = run_workflow(script(GOOD_CODE, review_code=[review]))
    reasons = [item for item in done.report.reasons if "the review's" in item]
    assert len(reasons) == 1
    assert "warning stands: line 6: slow for huge lists" in reasons[0]


def test_repaired_code_is_reviewed_again_as_a_change(run_workflow: RunWorkflow) -> None:
    first = "- L3 warning: may drop equals"
    second = "- L4 error: top_k([1], 9) gives None\n- L3 warning: may drop equals"
    done = run_workflow(
        script(
            WRONG_CODE,
            BETTER_CODE,
            GOOD_CODE,
            GOOD_CODE + "\n\nB = 2\n",
            review_code=[first, second],
        )
    )
    again = done.model.list_prompts("review_code")[1]
    assert "-    return sorted(xs)[:k]" in again
    assert "may drop equals" in again
    assert "gives None" in done.model.list_prompts("repair_code")[2]
    assert [(item.severity, item.resolved) for item in done.report.review] == [
        ("error", True),
        ("warning", True),
    ]
    assert done.report.repairs == 3
    assert "B = 2" in done.report.final_code
    assert not any("the review's" in item for item in done.report.reasons)


def test_green_code_without_repairs_is_reviewed_once(run_workflow: RunWorkflow) -> None:
    assert len(run_workflow(script(GOOD_CODE)).model.list_prompts("review_code")) == 1


@pytest.mark.parametrize("repairs", [[BREAKING], [BREAKING, GOOD_CODE]])
def test_green_code_with_its_finding_is_reported_if_no_repair_of_it_stays_green(
    run_workflow: RunWorkflow, repairs: list[str]
) -> None:
    given = script(BETTER_CODE, GOOD_CODE, *repairs, review_code=["LGTM", "- L4 error: no"])
    done = run_workflow(given, max_repairs=1 + len(repairs))
    assert (done.report.verdict, done.report.final_code) == ("passed", GOOD_CODE)
    assert any("error stands: line 4: no" in item for item in done.report.reasons)


def test_code_is_tested_although_the_findings_of_its_review_cannot_be_repaired(
    run_workflow: RunWorkflow,
) -> None:
    prose = ["It is right as it is."] * 2
    done = run_workflow(answers(review_code=["- L4 error: no"], repair_code=prose))
    assert (done.report.verdict, done.report.final_code) == ("passed", GOOD_CODE)
    assert any("error stands: line 4: no" in item for item in done.report.reasons)


def test_a_review_that_cannot_be_had_is_a_reason(run_workflow: RunWorkflow) -> None:
    refused = [ReplayExhaustedError("no answer is left"), ReplayExhaustedError("no answer is left")]
    done = run_workflow(script(BETTER_CODE, GOOD_CODE, review_code=["LGTM", *refused]))
    assert done.report.verdict == "passed"
    assert any("the repaired code was not reviewed" in item for item in done.report.reasons)


# --- A lone red test is judged before the first repair

_MANY = GOOD_TESTS + "".join(
    f'\n\ndef test_more_{n}():\n    """R1: {n}."""\n    assert top_k([{n}], 1) == [{n}]\n'
    for n in range(3)
)


def test_a_lone_red_test_is_judged_before_the_first_repair(run_workflow: RunWorkflow) -> None:
    suite = suite_answer(_MANY + WRONG_TEST)
    done = run_workflow(answers(generate_tests=[suite], judge_test=[TEST_IS_WRONG]))
    assert done.model.list_prompts("repair_code") == []
    assert "this one alone fails: AssertionError" in done.model.list_prompts("judge_test")[0]
    assert (done.report.verdict, done.kinds) == ("passed", ["generate"])


def test_a_lone_red_test_that_is_right_leads_to_a_repair(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        script(
            BETTER_CODE,
            GOOD_CODE,
            generate_tests=[suite_answer(_MANY)],
            judge_test=[CODE_IS_WRONG],
        )
    )
    assert "test_negative stands" in done.model.list_prompts("repair_code")[0]
    assert done.report.repairs == 1


def test_a_lone_red_example_is_judged_among_few_green_tests(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(judge_test=[TEXT_IS_WRONG]),
        specification=f"{SPECIFICATION}\n\ntop_k([1, 2], 1) -> [1]\n",
    )
    assert done.model.list_prompts("repair_code") == []
    assert done.report.verdict == "failed"
    assert "the text contradicts itself" in done.report.reasons[0]
    assert not any("not repaired" in item for item in done.report.reasons)
    assert done.report.final_code is not None


def test_no_dispute_is_judged_after_an_example_that_contradicts_the_text(
    run_workflow: RunWorkflow,
) -> None:
    wrong = "top_k([1, 2], 1) -> [1]"
    disputes = "DISPUTE test_specification_example_1: largest first\nDISPUTE test_wrong: so too"
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(GOOD_TESTS + WRONG_TEST)],
            repair_code=[disputes],
            judge_test=[TEXT_IS_WRONG, TEXT_IS_WRONG],
        ),
        specification=f"{SPECIFICATION}\n\n{wrong}\n",
    )
    assert len(done.model.list_prompts("judge_test")) == 1
    assert done.report.verdict == "failed"
    assert "the text contradicts itself" in done.report.reasons[0]


# --- Autofixes before model calls


# --- A repair prompt is bounded


def test_repair_prompt_shows_at_most_five_failures_with_different_causes(
    run_workflow: RunWorkflow,
) -> None:
    many = GOOD_TESTS + "".join(
        f'\n\ndef test_more_{n}():\n    """R1: {n}."""\n    assert top_k([{n}, {n + 1}], 1) == [{n + 1}]\n'
        for n in range(12)
    )
    done = run_workflow(script(WRONG_CODE, GOOD_CODE, generate_tests=[suite_answer(many)]))
    (prompt,) = done.model.list_prompts("repair_code")
    assert prompt.count("\n### test_topk.py::") == 5
    assert "more, of the same causes or less telling, are not shown" in prompt


def test_repair_prompt_does_not_grow_with_the_attempts(run_workflow: RunWorkflow) -> None:
    def variant(n: int) -> str:
        return f"def top_k(xs, k):\n    return [{n}]\n"

    done = run_workflow(script(variant(10), *(variant(n) for n in range(11, 23))), max_repairs=12)
    sizes = [len(text) for text in done.model.list_prompts("repair_code")]
    assert len(sizes) == 12
    assert max(sizes[6:]) - min(sizes[6:]) < 40


# --- Wrong tests are expected


def test_test_judged_wrong_is_dropped(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(generate_tests=[WRONG_SUITE], repair_code=[DISPUTE], judge_test=[TEST_IS_WRONG])
    )
    assert done.report.verdict == "passed"
    assert "test_wrong" not in done.report.test_code
    (entry,) = [item for item in done.report.tests if "test_wrong" in item.id]
    assert (entry.outcome, entry.disputed, entry.judgement) == ("dropped", True, "R1 demands [3]")
    assert done.kinds == ["generate"]  # the code was right and is not touched
    assert len(done.events_of(DisputeJudged)) == 1


def test_upheld_test_stays_and_later_prompts_show_the_ruling(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(
            generate_code=[fence(WRONG_CODE)],
            repair_code=["DISPUTE test_negative: none\n" + fence(BETTER_CODE), fence(GOOD_CODE)],
            judge_test=[CODE_IS_WRONG],
        )
    )
    assert done.report.verdict == "passed"
    assert "test_negative" in done.report.test_code
    assert (
        "test_negative stands: the test follows from R1"
        in done.model.list_prompts("repair_code")[1]
    )


def test_each_test_is_judged_once(run_workflow: RunWorkflow) -> None:
    again = "DISPUTE test_wrong: still\n"
    done = run_workflow(
        answers(
            generate_code=[fence(GOOD_CODE)],
            generate_tests=[WRONG_SUITE],
            repair_code=[
                DISPUTE + "\n" + fence(OTHER_WRONG),
                again + fence(GOOD_CODE + "\n# 2\n"),
            ],
            judge_test=[CODE_IS_WRONG],
        ),
        max_repairs=2,
    )
    assert len(done.model.list_prompts("judge_test")) == 1
    assert done.report.verdict == "failed"


def test_dispute_of_an_unknown_test_is_ignored(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        script(WRONG_CODE, repair_code=["DISPUTE test_absent: x\n" + fence(GOOD_CODE)])
    )
    assert done.model.list_prompts("judge_test") == []
    assert done.report.verdict == "passed"


def test_run_fails_when_every_test_is_dropped(run_workflow: RunWorkflow) -> None:
    only_wrong = suite_answer(
        "from topk import top_k\n"
        + WRONG_TEST
        + WRONG_TEST.replace("test_wrong", "test_too").replace("R1", "R2"),
        [],
    )
    done = run_workflow(
        answers(
            generate_tests=[only_wrong],
            repair_code=[DISPUTE + "\nDISPUTE test_too: R1 demands [3]"],
            judge_test=[TEST_IS_WRONG, TEST_IS_WRONG],
        ),
        max_repairs=1,
    )
    assert done.report.verdict == "failed"


# --- The best candidate is never lost


def test_next_repair_does_not_start_from_code_that_breaks_passing_tests(
    run_workflow: RunWorkflow,
) -> None:
    done = run_workflow(script(BETTER_CODE, BREAKING, GOOD_CODE))
    second = done.model.list_prompts("repair_code")[1]
    assert "return sorted(xs, reverse=True)[:k]" in second
    assert "return None" not in second
    assert "repair: 2 failing" in second  # the attempt that broke tests is shown in one line
    assert done.report.verdict == "passed"


def test_best_candidate_is_reported_when_all_fail(run_workflow: RunWorkflow) -> None:
    report = run_workflow(script(BETTER_CODE, BREAKING, WRONG_CODE), max_repairs=2).report
    assert report.verdict == "failed"
    assert report.final_code == BETTER_CODE
    assert [item.failed for item in report.attempts] == [1, 2, 3]


def test_best_candidate_is_run_again_when_its_failing_test_is_dropped(
    run_workflow: RunWorkflow,
) -> None:
    """The dispute makes the first code green, although a broken repair came with it."""
    done = run_workflow(
        answers(
            generate_tests=[WRONG_SUITE],
            repair_code=[DISPUTE + "\n" + fence(BREAKING)],
            judge_test=[TEST_IS_WRONG],
        ),
        max_repairs=1,
    )
    assert done.report.verdict == "passed"
    assert done.report.final_code == GOOD_CODE


def test_earlier_of_equal_candidates_is_best(run_workflow: RunWorkflow) -> None:
    report = run_workflow(script(BETTER_CODE, OTHER_WRONG), max_repairs=1).report
    assert report.final_code == BETTER_CODE


# --- A stuck run is detected


def test_stuck_run_is_rewritten_then_ended(run_workflow: RunWorkflow) -> None:
    same = BETTER_CODE + "\n\nUNUSED = 1\n"
    same_again = BETTER_CODE + "\n\nUNUSED = 2\n"
    done = run_workflow(
        answers(
            generate_code=[fence(BETTER_CODE), "Sorted again.\n" + fence(same_again)],
            repair_code=["Nothing new here.\n" + fence(same)],
        )
    )
    assert done.kinds == ["generate", "repair", "rewrite"]
    assert [item.next_step for item in done.events_of(Stuck)] == [
        "rewriting from the contract",
        "stopping early",
    ]
    rewrite = done.model.list_prompts("generate_code")[1]
    assert "Earlier attempts failed" in rewrite
    assert "repair (Nothing new here.): 1 failing: test_negative" in rewrite.replace(
        "here)", "here.)"
    )
    assert (done.report.iterations, done.report.repairs) == (3, 2)
    assert any("stuck" in reason for reason in done.report.reasons)


def test_repeated_code_is_stuck_even_with_other_failures(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(
            generate_code=[fence(WRONG_CODE), fence(GOOD_CODE)],
            repair_code=[fence(BETTER_CODE), fence(BETTER_CODE)],
        )
    )
    assert done.kinds[-1] == "rewrite"
    assert done.report.verdict == "passed"


def test_fallback_model_is_used_when_stuck_after_a_rewrite(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        answers(
            generate_code=[fence(BETTER_CODE), fence(BETTER_CODE + "\n\nB = 2\n")],
            repair_code=[fence(BETTER_CODE + "\n\nA = 1\n")],
        ),
        fallback={"generate_code": [fence(GOOD_CODE)]},
    )
    assert done.fallback is not None
    assert done.fallback.tools == ["generate_code", "review_code"]
    assert done.report.verdict == "passed"


def test_fallback_model_is_asked_at_once_for_a_repair(run_workflow: RunWorkflow) -> None:
    given = answers(generate_code=[fence(BETTER_CODE)], repair_code=["no"] * 4)
    done = run_workflow(given, fallback={"repair_code": [fence(GOOD_CODE)]})
    assert (done.report.verdict, done.report.iterations, done.report.repairs) == ("passed", 2, 1)


def test_a_run_whose_code_adds_a_case_to_the_tests_ends(run_workflow: RunWorkflow) -> None:
    given = script(f"{GOOD_CODE}\nEXTRA = 1\n", f"{GOOD_CODE}\nEXTRA = 2\n")
    done = run_workflow(given, samples=1, max_repairs=1)
    assert (done.report.verdict, done.kinds) == ("failed", ["generate", "repair"])


# --- Budget before the call; N repairs and no more


def test_pending_answer_is_awaited_when_the_other_call_fails(run_workflow: RunWorkflow) -> None:
    """It is paid for, so it is logged and counted in the report."""
    done = run_workflow(answers(generate_tests=["nonsense", "again"]))
    assert isinstance(done.error, UnusableCodeError)
    assert done.report.final_code == GOOD_CODE
    assert done.report.usage.by_tool["generate_code"].calls == 1


@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_at_most_n_repairs(run_workflow: RunWorkflow, repairs: int) -> None:
    variants = [f"def top_k(xs, k):\n    return [{n}]\n" for n in range(10, 20)]
    done = run_workflow(script(*variants), max_repairs=repairs)
    assert len(done.model.list_prompts("repair_code")) == repairs
    assert (done.report.iterations, done.report.repairs) == (repairs + 1, repairs)
    assert done.report.verdict == "failed"


def test_budget_is_checked_before_the_call(run_workflow: RunWorkflow) -> None:
    dear = message(contract_answer(), usage=(5000, 10))
    done = run_workflow(answers(parse_specification=[dear]), max_tokens=5000)
    assert isinstance(done.error, BudgetExhaustedError)
    assert done.model.tools == ["parse_specification"]
    assert done.report.usage.input_tokens == 5000


# --- A green run is graded


def test_requirements_without_a_test_are_in_the_evidence(run_workflow: RunWorkflow) -> None:
    one = suite_answer(GOOD_TESTS.replace("R2", "R1"), [])
    report = run_workflow(answers(generate_tests=[one, one])).report
    assert report.evidence.requirements_untested == ("R2",)


def test_a_grading_that_ended_early_can_be_resumed_unless_a_process_works_on_it(
    run_workflow: RunWorkflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SandboxError("the disk is full")

    monkeypatch.setattr("greenloop.workflow.grade_code.grade_run", fail)
    report = run_workflow(answers()).report
    assert (report.verdict, report.reasons) == (
        "passed",
        ("ended early: grading: the disk is full",),
    )
    directory = Path(str(report.artifacts.run_dir))
    assert find_interrupted_run(tmp_path / "home") == directory
    with RunDirectory(directory).lock(), pytest.raises(InputError, match="was interrupted"):
        find_interrupted_run(tmp_path / "home")


def test_answers_without_a_run_are_for_the_latest_that_left_something_open(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "a"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"kind": "make", "specification": "x"}')
    (folder / "report.json").write_text('{"verdict": "passed"}')
    (folder / "choices.md").touch()
    assert find_interrupted_run(tmp_path, has_answers=True) == folder
    with pytest.raises(InputError, match="was interrupted"):
        find_interrupted_run(tmp_path)


def test_a_run_that_cannot_begin_leaves_files_of_the_user(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    mine = [tmp_path / name for name in ("answers.jsonl", "best", "lock")]
    mine[0].write_text("mine\n")
    mine[1].mkdir()
    mine[2].touch()
    assert isinstance(run_workflow(answers(), run_dir=tmp_path).error, InputError)
    assert sorted(tmp_path.iterdir()) == mine


# --- One log, one report, whatever happens


def test_the_last_event_is_the_report(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers())
    assert done.events[-1] == RunFinished(done.report)
