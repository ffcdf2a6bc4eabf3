"""Choices that a text leaves open: asked before tests, given later, or left in the report."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from greenloop.app.inputs.specification import add_answers
from greenloop.events import ChoiceAnswered, ChoiceAsked
from greenloop.records import Choice, ChoiceAnswer, Contract, Report, Requirement
from greenloop.workflow.choices import build_answer_tests
from greenloop.workflow.kinds import load_request
from greenloop.workflow.make.harden_tests import Hardener
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    PEER_CODE,
    answers,
    contract_answer,
    fence,
    peer_answer,
    suite_answer,
)
from tests.support.workflow_runs import Outcome, RunWorkflow

ALL_OF_THEM, AN_ERROR = "top_k([2, 1], 5) -> [2, 1]", "top_k([2, 1], 5) raises ValueError"
MORE = {
    "id": "C1",
    "question": "What if there are fewer than k numbers?",
    "quote": "the k largest numbers",
    "answers": [ALL_OF_THEM, AN_ERROR],
    "chosen": ALL_OF_THEM,
}
STRICT_CODE = GOOD_CODE.replace("if k < 0:", "if k < 0 or k > len(xs):")
STRICT_TESTS = GOOD_TESTS.replace(
    "    assert top_k([2, 1], 5) == [2, 1]", "    assert top_k([2, 1], 2) == [2, 1]"
)
MORE_TEST = "test_more_than_there_are"
STRICT_REPAIR = f"DISPUTE {MORE_TEST}: the user wants an error\n\n{fence(STRICT_CODE)}"
TEST_IS_WRONG = fence('{"wrong": "test", "because": "R3 demands an error"}', "json")
ANSWER_TEST = "test_answer_of_the_user_c1"


def script(*choices: dict[str, Any], **changes: list[Any]) -> dict[str, list[Any]]:
    """Return the answers of a run whose contract leaves something open."""
    contract = contract_answer(choices=list(choices or [MORE]))
    return answers(**{"parse_specification": [contract, "Nothing changes."], **changes})


def nothing_new(**changes: list[Any]) -> dict[str, list[Any]]:
    """Return a script without answers: all that is asked has to be in the log."""
    return {**{tool: [] for tool in answers()}, **changes}


@dataclass
class Asker:
    """A user with an answer prepared for each question: None leaves it open."""

    replies: list[str | None]
    asked: list[str] = field(default_factory=list)

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        self.asked.append(choice.question)
        reply = self.replies.pop(0)
        if reply == "interrupt":
            raise asyncio.CancelledError
        if reply is None:
            return ChoiceAnswer(question_sha256=choice.sha256, how="left")
        if reply == "accept":
            return ChoiceAnswer(question_sha256=choice.sha256, how="accepted")
        return ChoiceAnswer(question_sha256=choice.sha256, how="user", answer=reply)


def origins(report: Report) -> dict[str, str]:
    return {item.id.rpartition("::")[2]: item.origin for item in report.tests}


def choices_of(done: Outcome) -> Sequence[Choice]:
    assert done.report.contract is not None
    return done.report.contract.choices


def give_back(run: Path, answer: str = "", *, accept: bool = False) -> None:
    """Store an answer in a run, as `resume` does with choices.md."""
    directory = RunDirectory.open(run)
    request = load_request(directory)
    assert isinstance(request, MakeRequest)
    found = Report.model_validate_json(directory.report_file.read_text(), extra="ignore")
    assert found.contract is not None
    path = None
    if answer:
        path = run / "filled.md"
        path.write_text((run / "choices.md").read_text().replace("other:", f"other: {answer}"))
    request, why = add_answers(request, found.contract.choices, path, accept=accept, has_code=True)
    assert why == ""
    directory.save_request(request)


@pytest.mark.parametrize(
    ("head", "has_test"),
    [
        ("@dataclass\nclass Point:", True),
        ("@dataclass(frozen=True, order=True)\nclass Point:", True),
        ("class Point(NamedTuple):", True),
        ("@dataclass(eq=False)\nclass Point:", False),
        ("@dataclasses.dataclass(frozen=True, eq=False, slots=True)\nclass Point:", False),
        ("class Point:", False),
    ],
)
def test_an_answer_is_a_test_where_equal_fields_make_equal_objects(
    head: str, has_test: bool
) -> None:
    chosen = Choice(id="C1", question="Which?", chosen="f(1) -> Point(2)", answered="user")
    contract = Contract(
        module="m",
        summary="",
        interface=f"{head}\n    x: int\n\ndef f(x: int) -> Point: ...",
        requirements=(Requirement(id="R1", text="f makes a point."),),
        choices=(chosen,),
    )
    assert bool(build_answer_tests(contract)) is has_test


def test_a_choice_stays_open_where_nobody_is_asked(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    done = run_workflow(script(), run_dir=tmp_path / "run")
    (choice,) = choices_of(done)
    assert (choice.id, choice.answered, choice.source) == ("C1", None, "contract")
    assert done.report.verdict == "passed"
    (reason,) = [item for item in done.report.reasons if "leaves open" in item]
    assert "fewer than k" in reason
    assert "--answers" in reason
    assert "- [ ] 2: top_k([2, 1], 5) raises" in (tmp_path / "run" / "choices.md").read_text()
    assert done.report.artifacts.choices == str(tmp_path / "run" / "choices.md")


def test_an_answer_before_the_tests_is_a_locked_test(run_workflow: RunWorkflow) -> None:
    asker = Asker([AN_ERROR])
    tests = [suite_answer(STRICT_TESTS)]
    done = run_workflow(
        script(generate_code=[fence(STRICT_CODE)], generate_tests=tests), asker=asker
    )
    assert done.report.tests_passed
    assert origins(done.report)[ANSWER_TEST] == "answer"
    (entry,) = [item for item in done.report.tests if item.origin == "answer"]
    assert entry.requirements == ("R3",)
    assert choices_of(done)[0].answered == "user"
    assert choices_of(done)[0].chosen == AN_ERROR
    assert not [item for item in done.report.reasons if "leaves open" in item]
    for tool in ("generate_code", "generate_tests", "review_code"):
        assert f"The user's answer: `{AN_ERROR}`" in done.model.list_prompts(tool)[0]
    assert [
        type(item) for item in done.events if isinstance(item, (ChoiceAsked, ChoiceAnswered))
    ] == [
        ChoiceAsked,
        ChoiceAnswered,
    ]


def test_code_that_departs_from_the_answer_is_repaired(run_workflow: RunWorkflow) -> None:
    tests = [suite_answer(STRICT_TESTS)]
    done = run_workflow(
        script(generate_tests=tests, repair_code=[fence(STRICT_CODE)]), asker=Asker([AN_ERROR])
    )
    assert done.report.tests_passed
    assert done.kinds == ["generate", "repair"]


def test_an_answer_cannot_be_disputed(run_workflow: RunWorkflow) -> None:
    tests = [suite_answer(STRICT_TESTS)]
    dispute = f"DISPUTE {ANSWER_TEST}: it contradicts R1"
    done = run_workflow(
        script(generate_tests=tests, repair_code=[dispute, fence(STRICT_CODE)]),
        asker=Asker([AN_ERROR]),
        max_repairs=1,
    )
    assert done.report.verdict == "failed"
    assert done.model.list_prompts("judge_test") == []
    assert origins(done.report)[ANSWER_TEST] == "answer"


def test_an_answer_that_reads_a_file_nobody_makes_is_no_test(run_workflow: RunWorkflow) -> None:
    shows_a_form = "top_k([2, 1], len(open('k.txt').read())) -> [2]"
    done = run_workflow(script(), asker=Asker([shows_a_form]))
    (test,) = (item for item in done.report.tests if item.origin == "answer")
    assert (test.id.rpartition("::")[2], test.outcome) == (ANSWER_TEST, "dropped")
    assert done.report.tests_passed
    assert shows_a_form in done.report.contract.requirements[-1].text


def test_at_most_three_are_asked_and_the_rest_stays_open(run_workflow: RunWorkflow) -> None:
    asked = [{**MORE, "question": f"Question {n}?"} for n in range(5)]
    asker = Asker(["accept", None, ALL_OF_THEM])
    done = run_workflow(script(*asked), asker=asker)
    assert done.report.tests_passed
    assert asker.asked == ["Question 0?", "Question 1?", "Question 2?"]
    found = [item.answered for item in choices_of(done)]
    assert found == ["accepted", None, "user", None, None]
    assert sum("leaves open" in item for item in done.report.reasons) == 3


def test_an_answer_is_asked_for_once(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    run = tmp_path / "run"
    tests = [suite_answer(STRICT_TESTS)]
    first = script(generate_code=[fence(STRICT_CODE)], generate_tests=tests)
    before = run_workflow(first, run_dir=run, asker=Asker([AN_ERROR]))
    again = run_workflow(nothing_new(), resume=run, asker=Asker([]))
    assert again.model.prompts == []
    assert choices_of(again) == choices_of(before)
    assert again.report.final_code == STRICT_CODE


def test_a_run_interrupted_while_asking_asks_again_only_what_is_open(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run, two = tmp_path / "run", [MORE, {**MORE, "question": "And for k = 0?"}]
    with pytest.raises(asyncio.CancelledError):
        run_workflow(script(*two), run_dir=run, asker=Asker(["accept", "interrupt"]))
    assert "And for k = 0?" in (run / "choices.md").read_text()
    later = Asker([None])
    done = run_workflow(script(*two, parse_specification=[]), resume=run, asker=later)
    assert later.asked == ["And for k = 0?"]
    assert [item.answered for item in choices_of(done)] == ["accepted", None]


def test_a_later_answer_repairs_the_code_and_pays_only_for_that(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run_workflow(script(), run_dir=run)
    give_back(run, "ValueError")
    more = {"repair_code": [STRICT_REPAIR], "judge_test": [TEST_IS_WRONG]}
    more |= {"parse_specification": ["Nothing changes."], "generate_tests": []}
    done = run_workflow(nothing_new(**more), resume=run)
    tools = ["parse_specification", "generate_tests", "repair_code", "judge_test", "review_code"]
    assert done.model.tools == tools  # the tests could not be had: a repair and a judge instead
    assert done.report.tests_passed
    assert done.report.final_code == STRICT_CODE
    assert origins(done.report)[ANSWER_TEST] == "answer"
    assert choices_of(done)[0].answered == "user"
    assert not (run / "choices.md").exists()


def test_a_later_answer_steers_contract_tests_and_code(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    ties = dict(
        MORE, id="C2", question="Ties?", answers=["f(1) -> 2", "f(1) -> 3"], chosen="f(1) -> 2"
    )
    before = run_workflow(script(MORE, ties), run_dir=run, peer=True)
    (run / "choices.md").write_text((run / "choices.md").read_text().partition("## C2")[0])
    give_back(run, "ValueError")
    more = {
        "parse_specification": [
            "Requirements\n- R2: top_k([1], 5) and k < 0 raise ValueError\n"
            "Choices\n- Ties?: `f(4) -> 5` or `f(4) -> 6`; taken: first"
        ],
        "generate_tests": [suite_answer(STRICT_TESTS)],
        "repair_code": [fence(STRICT_CODE)],
        "write_peer": [peer_answer(PEER_CODE.replace("k < 0", "k < 0 or k > len(xs)"))],
    }
    done = run_workflow(nothing_new(**more), resume=run, peer=True)
    assert done.model.tools == [*more]  # no judge, and a new peer in place of a review
    for peer in (before.report.evidence.peer, done.report.evidence.peer):
        assert peer is not None
        assert peer.reached
        assert peer.agreed == peer.allowed
    asked = done.model.list_prompts("parse_specification")[0]
    assert "The author answers your question" in asked
    assert "raises ValueError`, and not `top_k([2, 1], 5) -> [2, 1]`" in asked
    assert done.report.contract is not None
    assert done.report.contract.requirements[1].text.startswith("top_k([1], 5)")
    assert [item.chosen for item in done.report.contract.open_choices] == ["f(4) -> 5"]
    assert done.report.final_code == STRICT_CODE
    assert done.report.tests_passed
    assert origins(done.report)[ANSWER_TEST] == "answer"
    again = run_workflow(nothing_new(), resume=run, peer=True)
    assert again.model.prompts == []
    assert again.report.final_code == STRICT_CODE


def test_a_later_answer_that_was_taken_already_costs_nothing(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run_workflow(script(), run_dir=run)
    give_back(run, "[2, 1]")
    done = run_workflow(nothing_new(), resume=run)
    assert done.report.tests_passed
    assert done.model.prompts == []
    assert origins(done.report)[ANSWER_TEST] == "answer"


def test_an_accepted_choice_is_tested_and_changes_nothing_else(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    before = run_workflow(script(), run_dir=run)
    give_back(run, accept=True)
    done = run_workflow(nothing_new(), resume=run)
    assert choices_of(done)[0].answered == "accepted"
    assert origins(done.report) == {**origins(before.report), ANSWER_TEST: "answer"}
    assert not [item for item in done.report.reasons if "leaves open" in item]


def test_code_does_what_is_accepted(run_workflow: RunWorkflow) -> None:
    other = {"generate_code": [fence(STRICT_CODE)], "generate_tests": [suite_answer(STRICT_TESTS)]}
    done = run_workflow(script(**other, repair_code=[fence(GOOD_CODE)]), asker=Asker(["accept"]))
    assert done.report.final_code == GOOD_CODE


def test_a_red_run_goes_on_with_a_later_answer(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    """The code was right by the user's reading, and red by the one that was taken."""
    run = tmp_path / "run"
    before = run_workflow(script(generate_code=[fence(STRICT_CODE)]), run_dir=run, max_repairs=0)
    assert before.report.verdict == "failed"
    give_back(run, "ValueError")
    dispute = f"DISPUTE {MORE_TEST}: the user wants an error"
    more = {"repair_code": [dispute], "judge_test": [TEST_IS_WRONG]}
    done = run_workflow(nothing_new(**more), resume=run, max_repairs=1)
    assert done.report.tests_passed
    assert done.report.final_code == STRICT_CODE


def test_an_answer_to_another_question_is_not_taken(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    stale = ChoiceAnswer(question_sha256="0" * 64, how="user", answer=AN_ERROR)
    request = MakeRequest(specification="Write top_k.", choice_answers=(stale,))
    done = run_workflow(script(), request=request, run_dir=tmp_path / "run")
    assert [item.answered for item in choices_of(done)] == [None]
    assert done.report.tests_passed


def test_an_answer_in_words_is_a_requirement(run_workflow: RunWorkflow) -> None:
    choice = {**MORE, "answers": ["all of them", "an error"], "chosen": "all of them"}
    done = run_workflow(script(choice), asker=Asker(["an error"]))
    assert "answer" not in origins(done.report).values()
    assert "R3. What if there are fewer" in done.model.list_prompts("generate_tests")[0]


def test_answers_are_stored_before_the_next_question(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    stored: list[int] = []

    class Watching(Asker):
        async def ask(self, choice: Choice) -> ChoiceAnswer:
            stored.append(len(json.loads((run / "run.json").read_text())["choice_answers"]))
            return await super().ask(choice)

    two = [MORE, {**MORE, "question": "And for k = 0?"}]
    run_workflow(script(*two), run_dir=run, asker=Watching(["accept", "accept"]))
    assert stored == [0, 1]


FOUND_LATE = Choice(
    id="D1",
    question="What does `top_k([2, 1], 5)` give?",
    answers=(ALL_OF_THEM, AN_ERROR),
    chosen=ALL_OF_THEM,
    source="judge",
)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a choice to the contract when the code is green, as a judge of differences does."""

    async def find_choice(self: Hardener) -> bool:
        state = self._run.state
        contract = state.agreed_contract
        if all(item.id != "D1" for item in contract.choices):
            choices = (*contract.choices, FOUND_LATE)
            state.contract = contract.model_copy(update={"choices": choices})
        return False

    monkeypatch.setattr(Hardener, "harden", find_choice)


@pytest.mark.usefixtures("judged")
def test_a_choice_found_late_is_asked_at_the_end(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    run, early = tmp_path / "run", [{**MORE, "question": f"Question {n}?"} for n in range(4)]
    asker = Asker(["accept", "accept", "accept", AN_ERROR])
    more = {"repair_code": [STRICT_REPAIR], "judge_test": [TEST_IS_WRONG]}
    done = run_workflow(script(*early, **more), run_dir=run, asker=asker)
    assert asker.asked == ["Question 0?", "Question 1?", "Question 2?", FOUND_LATE.question]
    assert done.report.tests_passed
    assert done.report.final_code == STRICT_CODE
    assert origins(done.report)["test_answer_of_the_user_d1"] == "answer"
    again = run_workflow(nothing_new(), resume=run)
    assert again.model.prompts == []
    assert again.report.final_code == STRICT_CODE
    assert choices_of(again) == choices_of(done)


@pytest.mark.usefixtures("judged")
def test_a_choice_found_late_stays_open_though_the_others_were_accepted(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    """What arises for the first time in a resumed run was not there to be accepted."""
    run = tmp_path / "run"
    run_workflow(script(generate_code=[fence(STRICT_CODE)]), run_dir=run, max_repairs=0)
    give_back(run, accept=True)
    done = run_workflow(nothing_new(repair_code=[fence(GOOD_CODE)]), resume=run, max_repairs=1)
    assert [item.answered for item in choices_of(done)] == ["accepted", None]


@pytest.mark.usefixtures("judged")
def test_a_choice_found_late_is_accepted_later(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_workflow(script(MORE), run_dir=run)
    give_back(run, accept=True)
    done = run_workflow(nothing_new(), resume=run)
    assert [item.answered for item in choices_of(done)] == ["accepted", "accepted"]
