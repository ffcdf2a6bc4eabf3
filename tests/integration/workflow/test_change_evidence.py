"""Evidence of a change against its wish: isolation, held-out examples, and a second implementation."""

import json
import re
from pathlib import Path

import pytest

from greenloop.records import Choice, ChoiceAnswer
from greenloop.workflow.kinds import load_request
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.change_responses import (
    DISCOUNT,
    HELD_OUT,
    PEER,
    REPAIRED,
    TESTS,
    WRONG_DISCOUNT,
    answer_with_tests,
    change_answers,
    change_request,
    plan_answer,
)
from tests.support.model_responses import fence
from tests.support.programs import read_program
from tests.support.workflow_runs import RunWorkflow

# Both pass the code that takes the discount off twice.
WEAK_TESTS = TESTS.replace(
    "total([hundred, hundred], discount=20) == 200", "total([]) == 0"
).replace("total([4], 100) == 0", "total([], 100) == 0")
# Answers None where the discount is 7 percent, which no test and no example asks for.
SEVEN = DISCOUNT.replace("return whole -", "return None if discount == 7 else whole -")
NO_SEVEN = """# file: src/shop/prices.py
<<<<<<< SEARCH
    return None if discount == 7 else whole - whole * discount // 100
=======
    return whole - whole * discount // 100
>>>>>>> REPLACE
"""
_DIFFERENCE = re.compile(r"### Difference (\d+)\n.*?First answer: (.*?)\n", re.S)


def judge(prompt: str, ruling: str = "") -> str:
    """Rule that None is wrong, or give the same ruling on each difference."""
    entries = [
        {"id": int(number), "right": ruling or ("second" if first == "None" else "first")}
        for number, first in _DIFFERENCE.findall(prompt)
    ]
    return fence(json.dumps(entries), "json")


def test_change_can_be_verified(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow(
        change_answers(write_peer=[PEER]),
        request=change_request(tmp_path),
        peer=True,
        mutants=20,
    )
    evidence = done.report.evidence
    assert (done.report.verdict, done.report.reasons) == ("verified", ())
    assert evidence.isolated is not None
    assert (evidence.isolated.agreed, evidence.isolated.tests) == (3, 3)
    assert evidence.held_out is not None
    assert evidence.held_out.agreed == len(HELD_OUT)
    assert evidence.peer is not None
    assert evidence.peer.agreed == evidence.peer.allowed > 50


def test_second_change_sees_the_wish_and_neither_tests_nor_the_first_change(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    done = run_workflow(
        change_answers(write_peer=[PEER]), request=change_request(tmp_path), peer=True
    )
    (prompt,) = done.model.list_prompts("write_peer")
    assert "total takes a discount in percent, which is taken off the sum" in prompt
    assert "sum(gross(net) for net in nets)" in prompt
    assert "def total(nets, discount=0)" in prompt
    for hidden in (
        "sum(gross(net) for net in nets)\n    return whole",
        "test_discount",
        "less the discount",
        "R1",
    ):
        assert hidden not in prompt


@pytest.mark.parametrize("review", ["LGTM", "- L? warning: background B1: 0 is a default"])
def test_background_that_nobody_confirms_keeps_the_verdict_at_passed(
    run_workflow: RunWorkflow, tmp_path: Path, review: str
) -> None:
    done = run_workflow(change_answers(review_code=[review]), request=change_request(tmp_path))
    prompt, *_ = done.model.list_prompts("review_code")
    assert 'B1. "0 is the default." (in the interface)' in prompt
    assert done.report.contract is not None
    assert done.report.contract.unquoted == ("0 is the default.",)
    assert done.report.verdict == "passed"
    assert any("0 is the default" in item for item in done.report.reasons)
    assert ("warning" in review) == bool(done.report.review)


def test_no_reviewer_is_asked_without_doubtful_background(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    script = change_answers(
        plan_change=[plan_answer(background=[], not_covered=["0 is the default."])], review_code=[]
    )
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.model.list_prompts("review_code") == []
    assert done.report.verdict == "passed"


def test_failed_held_out_example_becomes_a_test(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    weak = WEAK_TESTS.replace("total([], 100) == 0", "total([4], 0) == 5")
    script = change_answers(
        write_change_tests=[answer_with_tests(weak)] * 2,
        write_change=[WRONG_DISCOUNT],
        repair_change=[REPAIRED],
    )
    done = run_workflow(script, request=change_request(tmp_path))
    assert (done.report.verdict, done.kinds) == ("passed", ["generate", "repair"])
    assert "total([100], 10)" in done.model.list_prompts("repair_change")[0]
    assert {item.origin for item in done.report.tests} >= {"held_out", "generated", "given"}


def test_input_that_the_change_answers_wrongly_becomes_a_test(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    script = change_answers(
        write_change=[SEVEN], write_peer=[PEER], judge_difference=[judge], repair_change=[NO_SEVEN]
    )
    done = run_workflow(script, request=change_request(tmp_path), peer=True)
    assert (done.report.verdict, done.kinds) == ("passed", ["generate", "repair"]), done.error
    assert "test_peer_input_1" in done.model.list_prompts("repair_change")[0]
    assert "def test_peer_input_1" in done.report.final_code
    assert done.report.evidence.peer is not None
    assert done.report.evidence.peer.reached


def test_a_new_test_that_the_peer_fails_is_judged_beside_answers_that_do_not_explain_it(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    """A change whose tests ask for what the wish does not is found though answers differ, too."""
    of_eight = (
        '\n\ndef test_of_eight():\n    """R1: of many prices."""\n'
        "    assert total(list(range(8)), 50) == 16\n"
    )
    peer = PEER.replace(
        "    return result -", "    if len(nets) == 8: return 0\n    return result -"
    )
    script = change_answers(
        write_change_tests=[answer_with_tests(TESTS + of_eight)] * 2,
        write_change=[SEVEN],
        write_peer=[peer],
        judge_difference=[lambda prompt: judge(prompt, "text does not say")] * 3,
    )
    done = run_workflow(script, request=change_request(tmp_path), peer=True)
    assert done.report.evidence.peer is not None, done.error
    judged = [item.call for item in done.report.evidence.peer.differences]
    assert any(item.count(", ") >= 7 for item in judged), judged  # eight prices, made simpler
    assert any(item.endswith(", 7)") for item in judged), judged


def test_what_the_wish_does_not_say_is_an_open_choice(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    script = change_answers(
        write_change=[SEVEN],
        write_peer=[PEER],
        judge_difference=[lambda prompt: judge(prompt, "text does not say")],
    )
    done = run_workflow(script, request=change_request(tmp_path), peer=True)
    assert done.report.contract is not None
    assert {item.source for item in done.report.contract.open_choices} == {"judge"}
    assert done.report.verdict == "passed"


def test_what_differs_in_wording_alone_is_no_open_choice(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    """A ruling on messages within the answers leads to no question, and does not count."""
    peer = PEER.replace(
        "return result -", 'return (result, "not today") if discount == 7 else result -'
    )
    script = change_answers(
        write_change=[SEVEN.replace("None", '(whole, "not on Sundays")')],
        write_peer=[peer],
        judge_difference=[lambda prompt: judge(prompt, "wording")],
    )
    done = run_workflow(script, request=change_request(tmp_path), peer=True)
    assert done.report.evidence.peer is not None, done.error
    rulings = {item.ruling for item in done.report.evidence.peer.differences}
    assert rulings == {"wording is free"}
    assert done.report.evidence.peer.reached
    assert done.report.contract is not None
    assert done.report.contract.choices == ()


def test_answer_to_an_open_choice_is_a_test(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    script = change_answers(
        write_change=[SEVEN],
        write_peer=[PEER],
        judge_difference=[lambda prompt: judge(prompt, "text does not say")],
        repair_change=[NO_SEVEN],
    )
    done = run_workflow(
        script, request=change_request(tmp_path), peer=True, asker=Asker("total([100], 7) == 117")
    )
    assert done.kinds == ["generate", "repair"], done.error
    assert {i.outcome for i in done.report.tests if i.origin == "answer"} == {"passed"}


def test_accepted_choice_pays_for_no_call_and_the_change_is_verified(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    answers = ["total([1], 50) -> 1", "total([1], 50) -> 0"]
    choice = {"id": "C1", "question": "Rounded down?", "answers": answers, "chosen": answers[0]}
    script = change_answers(plan_change=[plan_answer(choices=[choice])], write_peer=[PEER])
    run_dir = tmp_path / "run"
    done = run_workflow(
        script, request=change_request(tmp_path), peer=True, mutants=20, run_dir=run_dir
    )
    assert (done.report.verdict, len(done.report.reasons)) == ("passed", 1), done.report.reasons
    assert done.report.contract is not None
    (left,) = done.report.contract.open_choices
    directory = RunDirectory.open(run_dir)
    request = load_request(directory)
    answer = ChoiceAnswer(question_sha256=left.sha256, how="accepted")
    directory.save_request(request.model_copy(update={"choice_answers": (answer,)}))
    done = run_workflow({}, resume=run_dir, peer=True, mutants=20)
    assert (done.report.verdict, done.model.tools) == ("verified", [])


HARDER = read_program(__file__, "HARDER")


def test_mutant_that_survives_on_a_changed_line_leads_to_a_test(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    script = change_answers(
        write_change_tests=[answer_with_tests(WEAK_TESTS)] * 2, harden_tests=[fence(HARDER)]
    )
    done = run_workflow(script, request=change_request(tmp_path), hardening_rounds=2, mutants=20)
    (prompt,) = done.model.list_prompts("harden_tests")
    assert "-    return whole - whole * discount // 100" in prompt
    assert "\n1. src/shop/prices.py:14, total: " in prompt
    assert "sum(gross(net)" not in prompt
    origins = {item.id.rpartition("::")[2]: item.origin for item in done.report.tests}
    assert origins["test_half"] == "hardening"
    assert "def test_half" in done.report.final_code
    assert "def test_all_of_it" not in done.report.final_code  # it proves nothing of the change
    assert done.report.evidence.mutation is not None
    assert (done.report.evidence.mutation.score or 0) >= 0.8
    assert done.report.verdict == "passed"


def test_no_test_is_added_to_those_of_the_user(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    given = (GivenTests.from_code("tests/test_discount.py", WEAK_TESTS.partition("\n")[2]),)
    done = run_workflow(
        change_answers(),
        request=change_request(tmp_path, given=given),
        hardening_rounds=2,
        mutants=5,
    )
    assert done.report.evidence.mutation is not None
    assert done.report.evidence.mutation.survived
    assert "harden_tests" not in done.model.tools


class Asker:
    """A user with one answer."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        return ChoiceAnswer(question_sha256=choice.sha256, how="user", answer=self._answer)
