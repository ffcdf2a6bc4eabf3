"""Second implementation: a peer is written from the text, and differences are judged by the text."""

import asyncio
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from greenloop.agent import CodingAgent
from greenloop.errors import ModelUnavailableError
from greenloop.events import PeerCompared
from greenloop.grading.peer.comparison import check_peer
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.workflow.peer import comparison
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.model_responses import (
    BETTER_CODE,
    GOOD_CODE,
    GOOD_TESTS,
    HELD_OUT,
    INTERFACE,
    PEER_CODE,
    QUOTES,
    SPECIFICATION,
    answers,
    contract_answer,
    fence,
    peer_answer,
    suite_answer,
)
from tests.support.scripted import ScriptedModel
from tests.support.workflow_runs import Outcome, RunWorkflow

# Nothing of contract and tests asks for the ValueError of the text.
OF_VALUES = [*HELD_OUT[:3], {"requirement": "R1", "call": "top_k([1, 2], 1)", "returns": "[2]"}]
BLIND: dict[str, list[Any]] = {
    "parse_specification": [
        contract_answer(
            requirements=[{"id": "R1", "text": "the k largest, largest first", "quotes": QUOTES}]
        )
    ],
    "generate_code": [fence(BETTER_CODE)],
    "generate_tests": [suite_answer(GOOD_TESTS.partition("\n\ndef test_negative")[0], OF_VALUES)],
}
_DIFFERENCE = re.compile(
    r"### Difference (\d+)\b.*?First answer: (.*?)\nSecond answer: (.*?)\n", re.S
)


def judge(
    is_right: Callable[[str], bool], otherwise: str = "neither", expected: str | None = None
) -> Callable[[str], str]:
    """Return a judge that holds the answers to be right that `is_right` accepts."""

    def answer(prompt: str) -> str:
        entries = []
        for number, first, second in _DIFFERENCE.findall(prompt + "\n"):
            right = "first" if is_right(first) else "second" if is_right(second) else otherwise
            because = 'The text says "k < 0 is a ValueError".'
            entries.append(
                {"id": int(number), "right": right, "because": because, "expected": expected}
            )
        return fence(json.dumps(entries), "json")

    return answer


def is_error(answer: str) -> bool:
    return answer.startswith("raises")


def is_value(answer: str) -> bool:
    return not is_error(answer)


def is_none_right(answer: str) -> bool:
    return False


def rulings_of(done: Outcome) -> set[str | None]:
    assert done.report.evidence.peer is not None
    return {item.ruling for item in done.report.evidence.peer.differences}


@pytest.fixture(name="run_workflow")
def run_with_a_peer(run_workflow: RunWorkflow) -> RunWorkflow:
    """Return the function with the second implementation switched on, as it is by default."""
    return partial(run_workflow, peer=True)


# --- Evidence


def test_agreement_is_evidence(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers())
    peer = done.report.evidence.peer
    assert peer is not None
    assert peer.reached
    assert peer.agreed == peer.allowed >= 50
    assert done.report.evidence.read_against_text
    assert done.model.tools.count("write_peer") == 1
    assert [item.peer for item in done.events_of(PeerCompared)] == [peer]


def test_few_inputs_are_not_enough(run_workflow: RunWorkflow) -> None:
    none = "def inputs(rng):\n    yield [1], 1\n\ndef allowed(xs, k):\n    return xs == [1] and k == 1\n"
    done = run_workflow(answers(write_peer=[peer_answer(inputs=none), peer_answer()]))
    _, again = done.model.list_prompts("write_peer")
    refused = re.search(
        r"only (\d+) inputs could be compared.*refuses these.*?\ntop_k\(", again, re.S
    )
    assert refused
    assert int(refused[1]) < 50
    assert done.report.evidence.peer is not None
    assert done.report.evidence.peer.reached
    strict = (
        "def inputs(rng):\n    for n in range(150):\n        yield [n], 1\n\n"
        "def allowed(xs, k):\n    return xs == [1] and k == 1\n"
    )  # all inputs that there are, by a precondition that its own generator contradicts
    done = run_workflow(answers(write_peer=[peer_answer(inputs=strict)] * 2))
    assert any("inputs were compared (at least 50)" in item for item in done.report.reasons)
    assert done.report.verdict == "passed"


# --- Rulings


def test_an_input_that_the_code_answers_wrongly_becomes_a_test(run_workflow: RunWorkflow) -> None:
    repaired = fence(GOOD_CODE)
    done = run_workflow(
        answers(**BLIND, repair_code=[repaired], judge_difference=[judge(is_error)])
    )
    report = done.report
    assert report.verdict == "passed"  # there are no held-out examples
    assert "ValueError" in report.final_code
    assert {item.outcome for item in report.tests if item.origin == "peer"} == {"passed"}
    assert "The text says 'k < 0 is a ValueError'." in report.test_code
    assert "test_peer_input_1" in done.model.list_prompts("repair_code")[0]
    assert done.model.tools.count("write_peer") == 1
    assert rulings_of(done) == {"code is wrong"}
    peer = report.evidence.peer
    assert peer is not None
    assert peer.reached
    assert len(done.events_of(PeerCompared)) == 2


def test_no_second_judge_is_asked_about_a_test_of_the_peer(run_workflow: RunWorkflow) -> None:
    """It is the only red one among many green ones, and a judge has ruled what it demands."""
    many = BLIND["generate_tests"][0].partition("\n```")[0].removeprefix("```python\n") + "".join(
        f'\n\n\ndef test_more_{n}():\n    """R1: {n}."""\n    assert top_k([{n}], 1) == [{n}]\n'
        for n in range(4)
    )
    blind = {**BLIND, "generate_tests": [suite_answer(many, OF_VALUES)]}
    done = run_workflow(
        answers(**blind, repair_code=[fence(GOOD_CODE)], judge_difference=[judge(is_error)])
    )
    assert len(done.model.list_prompts("repair_code")) == 1
    assert done.model.list_prompts("judge_test") == []
    assert {item.outcome for item in done.report.tests if item.origin == "peer"} == {"passed"}


def test_a_wrong_peer_is_noted(run_workflow: RunWorkflow) -> None:
    wrong = PEER_CODE.replace('raise ValueError("negative")', "return []")
    done = run_workflow(
        answers(write_peer=[peer_answer(wrong)], judge_difference=[judge(is_error)])
    )
    assert rulings_of(done) == {"peer is wrong"}
    assert done.report.evidence.peer is not None
    assert done.report.evidence.peer.reached
    assert not any("second implementation" in item for item in done.report.reasons)
    assert done.report.contract is not None
    assert done.report.contract.choices == ()


def test_what_the_text_does_not_say_is_an_open_choice(run_workflow: RunWorkflow) -> None:
    silent = judge(is_none_right, "text does not say")
    done = run_workflow(answers(**BLIND, judge_difference=[silent]))
    assert done.report.verdict == "passed"
    assert done.report.contract is not None
    choice = done.report.contract.choices[0]
    assert done.report.evidence.peer is not None
    # Differences that are alike have one question.
    differences = done.report.evidence.peer.differences
    assert len(done.report.contract.choices) < len(differences)
    assert all(item.choice for item in differences)
    assert choice.source == "judge"
    assert choice.answered is None
    assert choice.answers[1].endswith("raises ValueError")
    assert choice.chosen == choice.answers[0]
    assert any(choice.question in item for item in done.report.reasons)
    assert not any(item.startswith("second implementation") for item in done.report.reasons)


def test_where_both_are_wrong_the_judges_answer_becomes_a_test(run_workflow: RunWorkflow) -> None:
    wrong = PEER_CODE.replace('raise ValueError("negative")', "return [0]")
    silent = "def top_k(xs, k):\n    return sorted(xs, reverse=True)[:max(k, 0)]\n"
    done = run_workflow(
        answers(
            **{**BLIND, "write_peer": [peer_answer(wrong)]},
            repair_code=[fence(silent)],
            judge_test=[fence('{"wrong": "code", "because": "k < 0"}', "json")] * 2,
            judge_difference=[
                judge(is_none_right, expected="[]"),
                judge(lambda text: text == "[]"),
            ],
        )
    )
    assert "max(k, 0)" in done.report.final_code
    assert {"both are wrong"} <= rulings_of(done) <= {"both are wrong", "peer is wrong"}
    assert any(item.origin == "peer" for item in done.report.tests)


def test_where_both_are_wrong_and_nothing_is_expected_a_choice_is_open(
    run_workflow: RunWorkflow,
) -> None:
    done = run_workflow(answers(**BLIND, judge_difference=[judge(is_none_right)]))
    assert rulings_of(done) == {"both are wrong"}
    assert done.report.contract is not None
    assert done.report.contract.open_choices


def test_a_difference_that_nobody_judges_keeps_the_verdict_at_passed(
    run_workflow: RunWorkflow,
) -> None:
    done = run_workflow(answers(**BLIND, judge_difference=["no idea", "none"]))
    assert done.report.verdict == "passed"
    assert rulings_of(done) == {None}
    assert any(
        item.startswith("second implementation: answers differ on") for item in done.report.reasons
    )


def test_without_repairs_left_no_test_is_added(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers(**BLIND, judge_difference=[judge(is_error)]), max_repairs=0)
    assert done.report.verdict == "passed"
    assert rulings_of(done) == {"code is wrong"}
    assert not any(item.origin == "peer" for item in done.report.tests)
    assert any("the text contradicts the code on" in item for item in done.report.reasons)


def test_a_disputed_test_of_a_peer_is_dropped_once_and_the_difference_counts(
    run_workflow: RunWorkflow,
) -> None:
    names = (f"test_peer_input_{number}" for number in range(1, 6))
    dispute = "\n".join(f"DISPUTE {name}: the text does not say so" for name in names)
    dropped = fence('{"wrong": "test", "because": "not in the text"}', "json")
    done = run_workflow(
        answers(
            **BLIND,
            judge_difference=[judge(is_error)],
            repair_code=[dispute],
            judge_test=[dropped] * 5,
        ),
    )
    assert done.report.verdict == "passed"
    assert any("the text contradicts the code on" in item for item in done.report.reasons)


STRICT_PEER = PEER_CODE.replace(
    "    rest,", "    if any(type(x) is str for x in xs):\n        raise TypeError\n    rest,"
)
OF_NO_TEXTS = "def inputs(rng):\n    yield [1], 1\n\ndef allowed(xs, k):\n    return str not in map(type, xs)\n"


def test_a_generated_test_that_the_text_contradicts_is_dropped(run_workflow: RunWorkflow) -> None:
    wrong_test = (
        "import pytest\n"
        + GOOD_TESTS
        + (
            '\n\n@pytest.mark.parametrize("letter", ["b", "c"])\ndef test_text(letter):\n'
            '    """R1: of a text, its letters."""\n'
            '    assert letter in str(top_k(["a", letter], 1))\n'
        )
    )
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(wrong_test)],
            write_peer=[peer_answer(STRICT_PEER, OF_NO_TEXTS)],
            judge_difference=[judge(lambda text: text.startswith("this test fails"))],
            repair_code=[fence(GOOD_CODE + "\n# not of texts\n")],
        )
    )
    (prompt,) = done.model.list_prompts("judge_difference")
    assert prompt.count("def test_text(letter)") == 1
    assert "its letters" not in prompt
    (entry,) = [item for item in done.report.tests if "test_text" in item.id]
    assert entry.outcome == "dropped"
    assert entry.disputed
    (repair,) = done.model.list_prompts("repair_code")
    assert "the text contradicts a test that the code passes" in repair
    assert [item.resolved for item in done.report.review] == [True]
    assert "# not of texts" in (done.report.final_code or "")


def test_code_that_no_repair_rid_of_a_contradicted_test_is_not_verified(
    run_workflow: RunWorkflow,
) -> None:
    wrong_test = GOOD_TESTS + (
        '\n\ndef test_text():\n    """R1: letters."""\n    assert top_k(["a", "b"], 1) == ["b"]\n'
    )
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(wrong_test)],
            write_peer=[peer_answer(STRICT_PEER, OF_NO_TEXTS)],
            judge_difference=[judge(lambda text: text.startswith("this test fails"))],
            repair_code=[fence(GOOD_CODE)],
        )
    )
    assert done.report.verdict == "passed"
    assert any(item.startswith("the review's error stands") for item in done.report.reasons)


# A peer that takes no texts, which its precondition does not allow.
NO_TEXTS = PEER_CODE.replace(
    "    rest,", "    if any(type(x) is str for x in xs):\n        raise TypeError\n    rest,"
)


def write_test_of_text(letter: str, expected: str) -> str:
    name = f"test_text_{letter}"
    return f'\n\ndef {name}():\n    """R1: letters."""\n    assert top_k(["a", "{letter}"], 1) == {expected}\n'


def test_a_test_is_judged_beside_answers_that_do_not_explain_it(run_workflow: RunWorkflow) -> None:
    """A peer that misreads the text elsewhere does not hide what the tests ask without cause."""
    peer = NO_TEXTS.replace("if k < 0:", "if k < 1:")
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(GOOD_TESTS + write_test_of_text("b", '["b"]'))],
            write_peer=[peer_answer(peer)],
            judge_difference=[judge(lambda text: text in ("[]", "this test fails"))] * 3,
            repair_code=[fence(GOOD_CODE + "\n# not of texts\n")],
        )
    )
    of_each_cause, *_ = done.model.list_prompts("judge_difference")
    assert "top_k([], 0)" in of_each_cause
    assert of_each_cause.count("def test_") == of_each_cause.count("def test_text_b") == 1
    (entry,) = [item for item in done.report.tests if "test_text_b" in item.id]
    assert entry.outcome == "dropped"


def test_tests_are_not_judged_beside_answers_that_explain_them(run_workflow: RunWorkflow) -> None:
    ascending = PEER_CODE.replace("return found", "return found[::-1]")
    peer = peer_answer(ascending)
    right = judge(lambda text: text.startswith("[") and text != "[]" and eval(text)[0] >= 2)
    done = run_workflow(answers(write_peer=[peer], judge_difference=[right]))
    assert done.report.evidence.peer is not None
    assert done.report.evidence.peer.differences
    (prompt,) = done.model.list_prompts("judge_difference")
    assert "def test_" not in prompt


# A peer that answers nothing for texts, of which its writer says that the text does not speak.
EMPTY_FOR_TEXTS = PEER_CODE.replace(
    "    rest,", "    if any(type(x) is str for x in xs):\n        return []\n    rest,"
)
NUMBERS_ALONE = (
    "def inputs(rng):\n    yield [1], 1\n\n"
    "def allowed(xs, k):\n    return str not in map(type, xs)\n"
)


def test_tests_that_fail_for_one_cause_lead_to_one_question(run_workflow: RunWorkflow) -> None:
    """What a test calls is compared though the precondition excludes it, and asked as an example."""
    tests = "".join(write_test_of_text(letter, f'["{letter}"]') for letter in "bcdefgh")
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(GOOD_TESTS + tests)],
            write_peer=[peer_answer(EMPTY_FOR_TEXTS, NUMBERS_ALONE)],
            judge_difference=[judge(is_none_right, "text does not say")],
        )
    )
    assert done.report.contract is not None
    (choice,) = done.report.contract.open_choices
    assert re.fullmatch(r"top_k\(\['a', '[b-h]'\], 1\) -> \['[b-h]'\]", choice.answers[0])
    assert choice.answers[1].endswith("-> []")
    (prompt,) = done.model.list_prompts("judge_difference")
    assert "def test_" not in prompt


def test_examples_run_on_a_peer_once(
    run_workflow: RunWorkflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def check(box: Sandbox, *, tests: Any, **options: Any) -> dict[str, str]:
        seen.append("\n".join(item.code for item in tests))
        return check_peer(box, tests=tests, **options)

    monkeypatch.setattr(comparison, "check_peer", check)
    run_workflow(answers(), specification=EXAMPLE)
    examples, others = seen
    assert "def test_specification_example_1" in examples
    assert "def test_specification_example_1" not in others
    assert "def test_largest" in others


def test_more_than_five_differences_are_judged_in_several_calls(run_workflow: RunWorkflow) -> None:
    tests = "".join(write_test_of_text(letter, f'["{letter}"]') for letter in "bcdefgh")
    done = run_workflow(
        answers(
            generate_tests=[suite_answer(GOOD_TESTS + tests)],
            write_peer=[peer_answer(NO_TEXTS)],
            judge_difference=[judge(lambda text: text.startswith("this test passes"))] * 2,
        )
    )
    first, second = done.model.list_prompts("judge_difference")
    assert (first.count("def test_text"), second.count("def test_text")) == (5, 2)
    assert rulings_of(done) == {"peer is wrong"}
    assert not [item for item in done.report.reasons if item.startswith("second implementation")]


def test_where_the_judge_fails_no_other_call_is_made(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers(**BLIND, judge_difference=["?"] * 9))
    assert len(done.model.list_prompts("judge_difference")) == 2  # asked for once more
    assert rulings_of(done) == {None}


# --- What the prompts show


def test_the_peer_sees_the_text_but_neither_contract_nor_code_nor_tests(
    run_workflow: RunWorkflow,
) -> None:
    reading = INTERFACE.replace("The k largest", "In dollars").replace("k: int", "k: int = 17")
    question, taken = "What if k is negative?", "top_k([1], -1) raises ValueError"
    choice = {"question": question, "answers": [taken, "top_k([1], -1) -> []"], "chosen": taken}
    assumptions = ["prices are in dollars"]
    contract = contract_answer(interface=reading, assumptions=assumptions, choices=[choice])
    done = run_workflow(answers(parse_specification=[contract]))
    (prompt,) = done.model.list_prompts("write_peer")
    assert SPECIFICATION in prompt
    assert "def top_k(xs, k=...):" in prompt
    assert f"- {question} {taken}" in prompt
    for text in ("dollars", "17", "R1", "sorted(xs", "test_largest_first", "[9, 7]"):
        assert text not in prompt


def test_the_judge_sees_no_code(run_workflow: RunWorkflow) -> None:
    silent = judge(is_none_right, "text does not say")
    done = run_workflow(answers(**BLIND, judge_difference=[silent]))
    (prompt,) = done.model.list_prompts("judge_difference")
    assert "sorted(xs" not in prompt
    assert "max(rest)" not in prompt
    answers_shown = _DIFFERENCE.findall(prompt + "\n")[0][1:]
    assert sorted(map(is_error, answers_shown)) == [False, True]


def test_the_judge_sees_what_is_taken_and_no_assumptions(run_workflow: RunWorkflow) -> None:
    question, taken = "Which numbers count?", "top_k([2, 2], 1) -> [2]"
    choice = {"question": question, "answers": [taken, "top_k([2, 2], 1) -> []"], "chosen": taken}
    requirements = [{"id": "R1", "text": "the k largest", "quotes": QUOTES}]
    contract = contract_answer(
        requirements=requirements, choices=[choice], assumptions=["none of them is negative"]
    )
    silent = judge(is_none_right, "text does not say")
    script = {**BLIND, "parse_specification": [contract], "judge_difference": [silent]}
    done = run_workflow(answers(**script))
    (prompt,) = done.model.list_prompts("judge_difference")
    assert f"- {question} {taken}\n" in prompt
    assert "none of them" not in prompt


def test_the_fallback_model_writes_the_peer_and_nothing_else(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers(write_peer=[]), fallback={"write_peer": [peer_answer()]})
    assert done.fallback is not None
    assert done.fallback.tools == ["write_peer"]
    assert done.report.evidence.peer is not None


# --- A run without this piece


def test_no_peer_says_that_nothing_second_has_read_the_text(run_workflow: RunWorkflow) -> None:
    done = run_workflow(answers(), peer=False)
    assert "write_peer" not in done.model.tools
    assert done.report.verdict == "passed"
    (reason,) = [item for item in done.report.reasons if "second implementation" in item]
    assert "no second implementation was compared: --no-peer was given" in reason


@pytest.mark.parametrize(
    "write_peer",
    [
        ["no code", "still none"],
        [peer_answer("def other(): pass\n")] * 2,
        [fence(PEER_CODE)] * 2,
        [ModelUnavailableError("the model is down")],
    ],
)
def test_an_unusable_peer_costs_the_run_nothing_else(
    run_workflow: RunWorkflow, write_peer: list[Any]
) -> None:
    done = run_workflow(answers(write_peer=write_peer), model_attempts=1)
    assert done.error is None
    assert done.report.verdict == "passed"
    (reason,) = [item for item in done.report.reasons if "second implementation" in item]
    assert "no second implementation was compared" in reason


def test_a_peer_that_cannot_be_afforded_is_left_out(run_workflow: RunWorkflow) -> None:
    spent = run_workflow(answers(), peer=False).report.usage
    limit = spent.input_tokens + spent.output_tokens + 10
    done = run_workflow(answers(), max_tokens=limit)
    assert done.error is None
    (reason,) = [item for item in done.report.reasons if "second implementation" in item]
    assert "--max-tokens" in reason


EXAMPLE = SPECIFICATION + "\n\n>>> top_k([1, 2], 1)\n[2]\n"
WRONG_PEER = PEER_CODE.replace("max(rest)", "min(rest)")


def test_a_peer_that_fails_an_example_of_the_text_is_written_once_more(
    run_workflow: RunWorkflow,
) -> None:
    script = answers(write_peer=[peer_answer(WRONG_PEER), peer_answer()])
    done = run_workflow(script, specification=EXAMPLE)
    again = done.model.list_prompts("write_peer")[1]
    assert "top_k([1, 2], 1)" in again.rpartition("contradicts these examples")[2]
    assert done.report.evidence.peer is not None
    assert done.report.evidence.peer.reached


def test_a_peer_that_fails_an_example_twice_is_dropped(run_workflow: RunWorkflow) -> None:
    script = answers(write_peer=[peer_answer(WRONG_PEER)] * 2)
    done = run_workflow(script, specification=EXAMPLE)
    assert done.report.evidence.peer is None
    assert any("contradicts the text's own examples" in item for item in done.report.reasons)


@pytest.mark.parametrize(
    ("code", "inputs"),
    [
        pytest.param(
            PEER_CODE.replace("    rest,", "    while True: pass\n    rest,"),
            None,
            marks=pytest.mark.slow,  # two runs of tests, up to their time limit
        ),
        (f"import os\nos._exit(3)\n{PEER_CODE}", None),
        (
            PEER_CODE,
            "def inputs(rng):\n    while True: pass\n\ndef allowed(*a):\n    return False\n",
        ),
    ],
)
def test_a_hostile_peer_is_one_line_and_the_run_goes_on(
    run_workflow: RunWorkflow, code: str, inputs: str | None
) -> None:
    peer = peer_answer(code, inputs) if inputs else peer_answer(code)
    done = run_workflow(answers(write_peer=[peer]), timeout_s=5.0)
    assert done.error is None
    assert done.report.verdict == "passed"
    (reason,) = [item for item in done.report.reasons if "second implementation" in item]
    assert "\n" not in reason


# --- Resuming


def test_a_resumed_run_pays_for_no_peer_and_no_ruling_twice(
    run_workflow: RunWorkflow, tmp_path: Path, box: Sandbox
) -> None:
    silent = judge(is_none_right, "text does not say")
    first = run_workflow(answers(**BLIND, judge_difference=[silent]), run_dir=tmp_path / "run")
    (saved,) = (tmp_path / "run" / "peer").iterdir()
    assert json.loads(saved.read_text())["comparison"]["differences"]
    nobody = ScriptedModel(answers={})
    settings = Settings(home=tmp_path, hardening_rounds=0, mutants=0, model_backoff_s=0.0)
    agent = CodingAgent(settings, model=nobody, sandbox=box)
    again = asyncio.run(agent.resume(RunDirectory.open(tmp_path / "run")))
    assert nobody.tools == []
    assert again.evidence.peer == first.report.evidence.peer
    assert again.contract == first.report.contract
