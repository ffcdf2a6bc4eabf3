"""The text is traced: what no requirement takes up is judged by the review, named, and counts."""

import json
from typing import Any

import pytest

from greenloop.errors import (
    BudgetExhaustedError,
    ReplayExhaustedError,
    SpecificationError,
)
from greenloop.events import ContractReady, Notice
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import with_change_request
from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    HELD_OUT,
    QUOTES,
    SPECIFICATION,
    answers,
    contract_answer,
    fence,
    suite_answer,
)
from tests.support.workflow_runs import RunWorkflow

R1 = {"id": "R1", "text": "top_k returns the k largest numbers, largest first."}
R2 = {"id": "R2", "text": "k < 0 raises ValueError."}
HALF = contract_answer(requirements=[{**R1, "quotes": [QUOTES[0]]}, R2])
LOST = contract_answer(requirements=[{**R1, "quotes": [QUOTES[0]]}])
MENDED = fence(
    json.dumps({"requirements": [{**R1, "quotes": [QUOTES[0]]}, {**R2, "quotes": [QUOTES[1]]}]}),
    "json",
)


def parsing(*responses: Any) -> dict[str, list[Any]]:
    return answers(parse_specification=list(responses))


def test_contract_that_quotes_the_text_is_asked_for_once(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers())
    assert len(done.model.list_prompts("parse_specification")) == 1
    assert done.report.contract is not None
    assert done.report.contract.unquoted == ()
    reasons = [item for item in done.report.reasons if not item.startswith("second implementation")]
    assert not [item for item in reasons if "text" in item]


LOST_REVIEW = "- L? warning: background B1: a negative k is refused\nLGTM"


def test_clause_that_the_review_misses_goes_back_with_the_contract(
    run_workflow: RunWorkflow,
) -> None:
    script = parsing(LOST, MENDED)
    script |= {"review_code": [LOST_REVIEW]}
    script["generate_tests"] = [suite_answer(GOOD_TESTS.replace("R2", "R1")), suite_answer()]
    done = run_workflow(script)
    first, second = done.model.list_prompts("parse_specification")
    assert second.startswith(first)
    assert '"k < 0 is a ValueError": background B1: a negative k is refused' in second
    assert f'- R1: {R1["text"]} <- "{QUOTES[0]}"' in second
    assert "Module: topk" in second
    assert done.report.contract is not None
    assert [item.quotes for item in done.report.contract.requirements] == [
        (QUOTES[0],),
        (QUOTES[1],),
    ]
    assert done.report.contract.module == "topk"  # keys that the answer left out stay
    assert (done.report.contract.unquoted, done.report.review) == ((), ())
    texts = [item.text for item in done.events_of(Notice)]
    assert texts[0].startswith('the contract was sent back: "k < 0 is a ValueError"')
    assert "the tests are written again from the changed contract" in texts
    assert any("R2" in item.requirements for item in done.report.tests)


def test_clause_that_asks_for_nothing_does_not_go_back(run_workflow: RunWorkflow) -> None:
    script = parsing(LOST) | {"review_code": ["- B1: asks for nothing\nLGTM"]}
    script["generate_tests"] = [suite_answer(GOOD_TESTS.replace("R2", "R1"))]
    report = run_workflow(script).report
    assert report.contract is not None
    assert (report.contract.unquoted, len(report.contract.requirements)) == ((), 1)
    assert report.contract.background[0].quote == "k < 0 is a ValueError"


def test_question_that_needs_no_answer_is_an_assumption(run_workflow: RunWorkflow) -> None:
    choices = [
        {"question": "What of k above the length?", "answers": ["top_k([1], 2) -> [1]"]},
        {"question": "Is it a list?", "answers": ["top_k([1], 1) -> [1]", "top_k([1], 1) -> (1,)"]},
    ]
    script = parsing(contract_answer(choices=choices))
    script |= {"review_code": ["- C1: needs no answer\nLGTM"]}
    done = run_workflow(script)
    (asked,) = done.model.list_prompts("review_code")
    assert "C1. What of k above the length? top_k([1], 2) -> [1]" in asked
    assert done.report.contract is not None
    assert [item.question for item in done.report.contract.choices] == ["Is it a list?"]
    assert "What of k above the length? top_k([1], 2) -> [1]" in done.report.contract.assumptions


def test_clause_that_stays_lost_keeps_the_verdict_at_passed(run_workflow: RunWorkflow) -> None:
    script = parsing(LOST)
    script["generate_tests"] = [suite_answer(GOOD_TESTS.replace("R2", "R1"), HELD_OUT[:1])]
    report = run_workflow(script).report
    assert report.contract is not None
    assert report.contract.unquoted == ("k < 0 is a ValueError",)
    assert report.verdict == "passed"
    assert report.reasons[0].startswith(
        'no requirement covers this passage of the text: "k < 0 is a ValueError"'
    )


def test_what_a_requirement_says_in_its_own_words_does_not_go_back(
    run_workflow: RunWorkflow,
) -> None:
    done = run_workflow(parsing(HALF))
    assert len(done.model.list_prompts("parse_specification")) == 1
    assert done.report.contract is not None
    assert done.report.contract.unquoted == ()


def test_recording_without_a_second_answer_costs_the_run_nothing(
    run_workflow: RunWorkflow,
) -> None:
    old = contract_answer(requirements=[R1, R2])
    done = run_workflow(parsing(old, ReplayExhaustedError("has no further answer")))
    assert done.error is None
    assert done.report.verdict == "passed"
    assert done.report.reasons[0].startswith("the contract quotes nothing from the text")
    assert not done.events_of(Notice)


@pytest.mark.parametrize(
    "second", [BudgetExhaustedError("used up"), fence('{"requirements": []}', "json")]
)
def test_without_a_second_contract_the_first_is_kept(
    run_workflow: RunWorkflow, second: Any
) -> None:
    done = run_workflow(parsing(LOST, second) | {"review_code": [LOST_REVIEW]})
    assert (done.error, done.report.verdict) == (None, "passed")
    assert done.report.contract is not None
    assert done.report.contract.unquoted == ("k < 0 is a ValueError",)


class TestContradiction:
    SIDES = (QUOTES[1], "For k < 0 it gives [].")
    TEXT = f"{SPECIFICATION} For k < 0 it gives []."

    def contract(self, *sides: str) -> str:
        own = {"id": "R3", "text": "k < 0 gives [].", "quotes": [self.SIDES[1]]}
        first = [{**R1, "quotes": [QUOTES[0]]}, {**R2, "quotes": [QUOTES[1]]}]
        named = [{"quotes": sides, "call": "top_k([], -1)"}]
        return contract_answer(requirements=[*first, own], contradictions=named)

    def test_a_confirmed_one_ends_the_run_before_code_is_paid_for(
        self, run_workflow: RunWorkflow
    ) -> None:
        script = parsing(self.contract(*self.SIDES), fence("{}", "json"))
        done = run_workflow(script, specification=self.TEXT)
        assert isinstance(done.error, SpecificationError)
        assert str(done.error) == (
            'the text contradicts itself: "k < 0 is a ValueError" against "For k < 0 it gives []." '
            "for `top_k([], -1)`: correct one of the two"
        )
        assert done.model.list_prompts("generate_code") == []

    @pytest.mark.parametrize("more", [{}, {"requirements": [{**R1, "quotes": [QUOTES[0]]}]}])
    def test_one_that_is_taken_back_does_not(
        self, run_workflow: RunWorkflow, more: dict[str, Any]
    ) -> None:
        taken_back = fence(json.dumps({"contradictions": [], **more}), "json")
        script = parsing(self.contract(*self.SIDES), taken_back)
        assert run_workflow(script, specification=self.TEXT).error is None

    def test_sides_that_are_not_in_the_text_are_not_asked_about(
        self, run_workflow: RunWorkflow
    ) -> None:
        done = run_workflow(
            parsing(self.contract(QUOTES[1], "k < 0 is an IndexError")), specification=self.TEXT
        )
        assert (done.error, len(done.model.list_prompts("parse_specification"))) == (None, 1)


class TestNotCovered:
    def test_it_is_said_before_code_and_keeps_the_verdict_at_passed(
        self, run_workflow: RunWorkflow
    ) -> None:
        text = f"{SPECIFICATION} Add a migration for the database."
        contract = contract_answer(not_covered=["Add a migration for the database."])
        done = run_workflow(parsing(contract), specification=text)
        (ready,) = done.events_of(ContractReady)
        assert ready.contract.not_covered == ("Add a migration for the database.",)
        assert len(done.model.list_prompts("parse_specification")) == 1
        assert done.report.verdict == "passed"
        assert done.report.reasons[0] == (
            "the text asks for what one Python module cannot provide: "
            '"Add a migration for the database."; take this out of the text, or '
            "change a project with `greenloop change`"
        )

    def test_most_of_the_text_ends_the_run_after_the_contract(
        self, run_workflow: RunWorkflow
    ) -> None:
        lost = ["Add a migration.", "Change app.py.", "Write the docs."]
        text = f"{SPECIFICATION} {' '.join(lost)}"
        done = run_workflow(parsing(contract_answer(not_covered=lost)), specification=text)
        assert isinstance(done.error, SpecificationError)
        assert done.error.exit_status == 2
        assert str(done.error) == (
            "one module cannot provide 3 of the 5 things that the text asks for, such as "
            "'Add a migration.': ask for the module alone, or change a project with "
            "`greenloop change`"
        )
        assert done.model.tools == ["parse_specification"]
        assert done.report.contract is not None


class TestBackground:
    text = f"{SPECIFICATION} We are old. Nobody must wait."
    contract = contract_answer(
        background=[
            {"quote": "We are old.", "reason": "a fact"},
            {"quote": "Nobody must wait.", "reason": "a wish"},
        ]
    )

    @pytest.mark.parametrize(
        "review", ["- L? warning: background B1: there is a limit of time", "LGTM"]
    )
    def test_what_the_review_does_not_confirm_keeps_the_verdict_at_passed(
        self, run_workflow: RunWorkflow, review: str
    ) -> None:
        both = [self.contract, self.contract]  # sent back, it calls the passage background again
        script = answers(parse_specification=both, review_code=[review])
        done = run_workflow(script, specification=self.text)
        asked, *_ = done.model.list_prompts("review_code")
        assert 'B1. "Nobody must wait." (a wish)' in asked
        assert "We are old" not in asked.partition("No requirement of the contract")[2]
        assert done.report.verdict == "passed"
        assert done.report.contract is not None
        (passage,) = done.report.contract.unquoted
        assert passage.startswith("Nobody must wait")
        assert any("Nobody must wait" in item for item in done.report.reasons)

    def test_confirmed_it_asks_for_nothing(self, run_workflow: RunWorkflow) -> None:
        review = "- B1: asks for nothing\nLGTM"
        script = answers(parse_specification=[self.contract], review_code=[review])
        done = run_workflow(script, specification=self.text)
        assert done.report.contract is not None
        assert done.report.contract.unquoted == ()
        assert len(done.report.contract.background) == 2
        assert not any("Nobody must wait" in item for item in done.report.reasons)


class TestAssumptions:
    contract = contract_answer(assumptions=["k is at most the length.", "Equal numbers all count."])
    doubt = "- L? warning: assumption 2: the other reading: once: top_k([2, 2, 1], 2) -> [2, 1]"

    def test_doubted_one_is_an_open_choice(self, run_workflow: RunWorkflow) -> None:
        done = run_workflow(
            answers(parse_specification=[self.contract], review_code=[self.doubt]),
        )
        (asked,) = done.model.list_prompts("review_code")
        assert "report it by its place in the list" in asked
        assert done.report.contract is not None
        assert done.report.contract.assumptions == ("k is at most the length.",)
        (choice,) = done.report.contract.open_choices
        assert choice.question == 'is "Equal numbers all count" meant, or "once"?'
        taken, other = choice.answers
        assert (choice.chosen, taken) == (taken, "as assumed: Equal numbers all count")
        assert other == "top_k([2, 2, 1], 2) -> [2, 1]"
        assert (done.report.verdict, done.report.review) == ("passed", ())
        assert any(item.startswith("the text leaves open:") for item in done.report.reasons)

    def test_doubts_are_no_findings_to_repair(self, run_workflow: RunWorkflow) -> None:
        review = f"- L3 error: the order is wrong\n{self.doubt}"
        done = run_workflow(
            answers(
                parse_specification=[self.contract],
                review_code=[review],
                repair_code=[fence(GOOD_CODE + "\nA = 1\n")],
            )
        )
        (repair,) = done.model.list_prompts("repair_code")
        assert "the order is wrong" in repair
        assert "they may count once" not in repair

    def test_unknown_number_stays_a_warning(self, run_workflow: RunWorkflow) -> None:
        doubt = self.doubt.replace("assumption 2", "assumption 3")
        done = run_workflow(answers(parse_specification=[self.contract], review_code=[doubt]))
        assert [item.severity for item in done.report.review] == ["warning"]


def test_change_in_words_quotes_itself(run_workflow: RunWorkflow) -> None:
    contract = run_workflow(answers()).report.contract
    request = MakeRequest(specification=SPECIFICATION)
    changed = with_change_request(request, "Sort them upwards. Print 3.", contract)
    done = run_workflow(answers(), request=changed)
    assert done.report.contract is not None
    assert done.report.contract.requirements[-1].quotes == (
        "Asked for later: Sort them upwards",
        "Print 3",
    )
    assert done.report.contract.unquoted == ()


def test_only_held_out_examples_are_asked_for_where_they_alone_are_missing(
    run_workflow: RunWorkflow,
) -> None:
    unusable = [{"call": "top_k([1], 1)", "returns": "Money(1)"}] * 4
    alone = fence(json.dumps(HELD_OUT), "json")
    done = run_workflow(answers(generate_tests=[suite_answer(held_out=unusable), alone]))
    first, again = done.model.list_prompts("generate_tests")
    assert "cannot be used" in again
    assert "Money" not in first
    assert "The tests stay as they are" in again
    assert done.report.evidence.held_out is not None
    assert done.report.evidence.held_out.agreed == len(HELD_OUT)
    assert sum(item.origin == "generated" for item in done.report.tests) == 3
