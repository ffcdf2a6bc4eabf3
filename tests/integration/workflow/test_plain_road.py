"""The plain road: no form of an answer ends a run while the model answers at all."""

from typing import Any

import pytest

from greenloop.errors import SpecificationError, UnusableCodeError
from greenloop.events import Notice
from greenloop.workflow.make.plain_road import is_small_model
from tests.support.model_responses import (
    BETTER_CODE,
    GOOD_CODE,
    SPECIFICATION,
    WRONG_CODE,
    answers,
    contract_answer,
    fence,
)
from tests.support.workflow_runs import RunWorkflow

TEXT = f"{SPECIFICATION} `def top_k(xs, k)`. top_k([1, 3, 2], 2) -> [3, 2]"
TESTS = fence(
    "from topk import top_k\nimport pytest\n\n\n"
    "def test_all():\n    assert top_k([2, 1], 5) == [2, 1]\n\n\n"
    "def test_negative():\n    with pytest.raises(ValueError):\n        top_k([1], -1)\n\n\n"
    "def test_broken(:\n"
)
NONE = ["I would start with the interface.", "Sure! Here it is."]


def plain(*code: str, tests: str = TESTS, parse: Any = NONE, **other: Any) -> dict[str, list[Any]]:
    script = {"parse_specification": [*parse], "generate_code": [fence(item) for item in code]}
    return {**script, "generate_tests": [tests], **other}


def test_no_contract_twice_leads_to_it(run_workflow: RunWorkflow) -> None:
    done = run_workflow(plain(GOOD_CODE), specification=TEXT)
    report = done.report
    assert (done.error, report.road, report.verdict) == (None, "plain", "passed")
    assert any(item.startswith("no contract was written") for item in report.reasons)
    assert done.model.tools == [
        *["parse_specification"] * 2,
        "generate_code",
        "generate_tests",
    ] or (sorted(done.model.tools[2:]) == ["generate_code", "generate_tests"])
    assert [item.outcome for item in report.tests] == ["passed"] * 3
    assert "test_broken" not in report.test_code
    assert report.contract is not None
    assert report.contract.interface == "def top_k(xs, k): ..."
    notice, *_ = done.events_of(Notice)
    assert notice.text.startswith(
        "without a contract: parse_specification: the model answered twice"
    )


def test_small_profile_asks_for_no_contract(run_workflow: RunWorkflow) -> None:
    done = run_workflow(plain(GOOD_CODE), specification=TEXT, profile="small")
    assert (done.report.road, done.report.verdict) == ("plain", "passed")
    assert sorted(done.model.tools) == ["generate_code", "generate_tests"]


def test_text_without_names_gets_the_interface_of_the_code(run_workflow: RunWorkflow) -> None:
    done = run_workflow(plain(GOOD_CODE), specification="The k largest.", profile="small")
    assert done.report.verdict == "passed"
    assert done.report.contract is not None
    assert done.report.contract.module == "top_k"
    assert [item.outcome for item in done.report.tests] == ["passed", "passed"]


def test_samples_come_before_repairs(run_workflow: RunWorkflow) -> None:
    done = run_workflow(
        plain(WRONG_CODE, WRONG_CODE, BETTER_CODE, GOOD_CODE), specification=TEXT, profile="small"
    )
    assert done.report.verdict == "passed"
    assert done.kinds == ["generate"] * 3  # the second sample is the first one again
    assert done.report.final_code.strip() == GOOD_CODE.strip()


WRONG_TEST = "def test_wrong():\n    assert top_k([1], 1) == 7"


@pytest.mark.parametrize("second", [f"x = 1\n{GOOD_CODE}", f"# the same\n{GOOD_CODE}"])
def test_test_that_samples_agree_against_is_dropped(run_workflow: RunWorkflow, second: str) -> None:
    wrong = TESTS.replace("def test_broken(:", WRONG_TEST)
    done = run_workflow(plain(GOOD_CODE, second, tests=wrong), specification=TEXT, profile="small")
    assert (done.report.verdict, done.model.tools.count("generate_code")) == ("passed", 2)
    (dropped,) = [item for item in done.report.tests if item.outcome == "dropped"]
    assert dropped.id.endswith("test_wrong")
    assert dropped.judgement == "samples of the code agree on another answer"


def test_sample_that_passes_a_wrong_test_does_not_win_against_two(
    run_workflow: RunWorkflow,
) -> None:
    wrong = TESTS.replace("def test_broken(:", WRONG_TEST)
    bent = GOOD_CODE.replace("return ", "return [7][0] if xs == [1] and k == 1 else ")
    script = plain(GOOD_CODE, bent, f"x = 1\n{GOOD_CODE}", tests=wrong)
    done = run_workflow(script, specification=TEXT, profile="small")
    assert done.report.final_code.strip() == GOOD_CODE.strip()
    assert done.model.tools.count("generate_code") == 3
    dropped = [item.id for item in done.report.tests if item.outcome == "dropped"]
    assert [item.partition("::")[2] for item in dropped] == ["test_wrong"]


def test_samples_that_fail_most_tests_are_not_believed(run_workflow: RunWorkflow) -> None:
    odd = "def top_k(xs, k):\n    return [{}][:0]\n"
    calls = ["[3, 1], 1) == [3]", "[4], 1) == [4]", "[], 2) == []"]
    tests = fence("\n".join(f"assert top_k({item}" for item in calls))
    script = plain(*[odd.format(n) for n in range(4)], tests=tests, repair_code=["No."] * 4)
    text = "Write `def top_k(xs, k)`, which returns the k largest, the largest first."
    done = run_workflow(script, specification=text, profile="small")
    assert done.report.verdict == "failed"
    assert not any(item.outcome == "dropped" for item in done.report.tests)


def test_red_code_is_what_samples_agree_on_and_not_what_fits_wrong_tests(
    run_workflow: RunWorkflow,
) -> None:
    wrong = [f"assert top_k([{n}, 1], 1) == [0]" for n in range(3, 6)]
    tests = fence("\n".join([*wrong, "assert top_k([], 2) == []"]))
    bent = GOOD_CODE.replace("return ", "return [0] if xs else ")
    script = plain(GOOD_CODE, f"x = 1\n{GOOD_CODE}", *[bent.replace("0]", f"{n}]") for n in (7, 8)])
    script |= {"generate_tests": [tests], "repair_code": [fence(bent.replace("[0]", "[0, 1][:1]"))]}
    text = "Write `def top_k(xs, k)`, which returns the k largest, the largest first."
    done = run_workflow(script, specification=text, profile="small", mutants=0)
    assert done.report.final_code.strip() == GOOD_CODE.strip()
    assert (done.report.verdict, done.model.tools.count("repair_code")) == ("failed", 0)


def test_test_on_which_samples_differ_stays(run_workflow: RunWorkflow) -> None:
    tests = fence("assert top_k([1, 3, 2], 2) == [3, 2]\nassert top_k([5, 4], 1) == [5]")
    odd = [GOOD_CODE.replace("return ", f"return [{n}] if xs == [5, 4] else ") for n in range(4)]
    done = run_workflow(
        plain(*odd, tests=tests, repair_code=["No."] * 4), specification=TEXT, profile="small"
    )
    assert done.report.verdict == "failed"
    assert [
        item.id.partition("::")[2] for item in done.report.tests if item.outcome == "failed"
    ] == ["test_2"]


def test_samples_can_be_asked_for_with_a_contract(run_workflow: RunWorkflow) -> None:
    script = answers(generate_code=[fence(WRONG_CODE), fence(GOOD_CODE)])
    done = run_workflow(script, samples=1)
    assert (done.report.road, done.kinds) == ("contract", ["generate", "generate"])


def test_samples_that_agree_are_repaired_with_a_contract(run_workflow: RunWorkflow) -> None:
    empty = fence("def top_k(xs, k):\n    return None\n")
    script = answers(generate_code=[empty, empty], repair_code=[fence(GOOD_CODE)])
    done = run_workflow(script, samples=1)
    assert done.kinds == ["generate", "repair"], done.report.reasons


def test_answers_without_tests_leave_the_examples(run_workflow: RunWorkflow) -> None:
    script = plain(GOOD_CODE)
    script["generate_tests"] = ["No.", "Still no."]
    report = run_workflow(script, specification=TEXT, profile="small").report
    assert (report.verdict, [item.origin for item in report.tests]) == ("passed", ["example"])


def test_sample_takes_the_place_of_an_answer_without_code(run_workflow: RunWorkflow) -> None:
    script = plain(GOOD_CODE)
    script["generate_code"] = ["No.", "Still no.", fence(GOOD_CODE)]
    done = run_workflow(script, specification=TEXT, profile="small")
    assert (done.error, done.report.verdict) == (None, "passed")
    assert done.model.tools.count("generate_code") == 3


def test_nothing_usable_at_all_is_a_failed_run(run_workflow: RunWorkflow) -> None:
    script = {"generate_code": [fence(GOOD_CODE)], "generate_tests": ["No.", "Still no."]}
    done = run_workflow(script, specification="The k largest.", profile="small")
    assert isinstance(done.error, UnusableCodeError)
    assert (done.error.exit_status, done.report.verdict) == (1, "failed")
    assert done.report.final_code.strip() == GOOD_CODE.strip()


def test_repair_that_is_none_changes_nothing(run_workflow: RunWorkflow) -> None:
    script = plain(*[f"x = {n}\n{WRONG_CODE}" for n in range(8)], repair_code=["No."] * 4)
    done = run_workflow(script, specification=TEXT, profile="small")
    assert (done.error, done.report.verdict) == (None, "failed")


@pytest.mark.parametrize("answer", ["NOTHING: it is vague", contract_answer(requirements=[])])
def test_word_of_the_model_that_nothing_can_be_tested(
    run_workflow: RunWorkflow, answer: str
) -> None:
    done = run_workflow(plain(GOOD_CODE, parse=[answer, answer]), specification=TEXT)
    assert (done.report.road, done.report.verdict) == ("plain", "passed")
    done = run_workflow(plain(GOOD_CODE, parse=[answer, answer]), specification="It is nice.")
    assert isinstance(done.error, SpecificationError) or done.report.road == "plain"


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("openai:qwen2.5-coder-1.5b", True),
        ("ollama:qwen2.5-coder:1.5b-instruct-q4_K_M", True),
        ("gemma3:270m", True),
        ("openai:llama-3.2-3B", True),
        ("ollama:qwen2.5-coder:7b", False),
        ("openai:gpt-oss-120b", False),
        ("openai:gpt-5.4", False),
        ("replay:examples/x1b.jsonl", False),
        ("qwen3-30b-a3b", False),
        ("claude-opus-4[1m]", False),
        ("gemini-2.5-pro-1m", False),
    ],
)
def test_small_models_are_known_by_name(name: str, small: bool) -> None:
    assert is_small_model(name) is small
