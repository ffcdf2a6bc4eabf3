"""The rules of the way: each test fails when its rule is broken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenloop.errors import BudgetExhaustedError, InvalidResponseError
from greenloop.events import DisputeJudged, RunFinished, Stuck
from greenloop.workflow.storage.request import GivenTests
from tests.support.model_responses import (
    BETTER_CODE,
    GOOD_CODE,
    GOOD_TESTS,
    SEALED,
    WRONG_CODE,
    WRONG_TEST,
    answers,
    contract_answer,
    fenced,
    suite_answer,
)
from tests.support.scripted import message

if TYPE_CHECKING:
    from tests.unit.workflow.conftest import Way

WRONG_SUITE = suite_answer(GOOD_TESTS + WRONG_TEST)
DISPUTE = "DISPUTE test_wrong: R1 demands [3]"
TEST_IS_WRONG = fenced('{"wrong": "test", "because": "R1 demands [3]"}', "json")
CODE_IS_WRONG = fenced('{"wrong": "code", "because": "the test follows from R1"}', "json")
# Fails test_negative only, like BETTER_CODE, but with another text, so with another signature.
OTHER_WRONG = "def top_k(xs, k):\n    if k < 0:\n        raise KeyError('no')\n    return sorted(xs, reverse=True)[:k]\n"
# Mends test_negative and breaks both others.
BREAKING = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return None\n"


def script(code: str = WRONG_CODE, *repairs: str, **changes: list[str]) -> dict[str, list[object]]:
    """A run whose first code is `code` and whose repairs are as given."""
    repair_code = [fenced(item) for item in repairs]
    return answers(**{"generate_code": [fenced(code)], "repair_code": repair_code, **changes})


# --- Tests come from the contract, not from the code


def test_no_prompt_of_the_tests_side_holds_the_code(way: Way) -> None:
    done = way(
        answers(
            generate_code=[fenced(WRONG_CODE)],
            generate_tests=[suite_answer(GOOD_TESTS.replace("R2", "R7")), WRONG_SUITE],
            repair_code=[DISPUTE + "\n" + fenced(GOOD_CODE)],
            judge_test=[TEST_IS_WRONG],
        )
    )
    assert done.report.verdict == "passed"
    blind = done.model.asked("generate_tests") + done.model.asked("judge_test")
    assert len(blind) == 3
    for text in blind:
        assert "sorted(xs" not in text


def test_sealed_examples_are_shown_to_nobody_who_writes_code(way: Way) -> None:
    done = way(script(WRONG_CODE, BETTER_CODE, GOOD_CODE))
    writers = [
        text
        for tool in ("generate_code", "review_code", "repair_code")
        for text in done.model.asked(tool)
    ]
    assert len(writers) == 4
    for text in writers:
        assert "[9, 7]" not in text


# --- Tests must earn trust


def test_tests_that_pass_on_the_stub_are_sent_back_with_the_reason(way: Way) -> None:
    lazy = GOOD_TESTS + '\n\ndef test_lazy():\n    """R1: nothing."""\n    assert True\n'
    done = way(answers(generate_tests=[suite_answer(lazy), suite_answer()]))
    asked = done.model.asked("generate_tests")
    assert len(asked) == 2
    assert "test_lazy does not fail on a module whose functions all raise" in asked[1]
    assert done.report.evidence.red_phase is not None
    assert done.report.evidence.red_phase.reached


def test_tests_that_still_pass_on_the_stub_are_set_aside(way: Way) -> None:
    lazy = suite_answer(
        GOOD_TESTS + '\n\ndef test_lazy():\n    """R1: nothing."""\n    assert True\n'
    )
    report = way(answers(generate_tests=[lazy, lazy])).report
    assert "test_lazy" not in report.test_code
    assert [item.outcome for item in report.tests if "test_lazy" in item.id] == ["dropped"]
    assert report.evidence.red_phase is not None
    assert report.evidence.red_phase.passing_on_stub == ("test_topk.py::test_lazy",)


_RETURNING = '\n\ndef test_given_back():\n    """R1: one."""\n    return top_k([1], 1) == [1]\n'


def test_tests_that_still_return_what_they_should_assert_are_set_aside(way: Way) -> None:
    returning = suite_answer(GOOD_TESTS + _RETURNING)
    report = way(answers(generate_tests=[returning, returning])).report
    assert "test_given_back" not in report.test_code
    (entry,) = (item for item in report.tests if "test_given_back" in item.id)
    assert entry.outcome == "dropped"


@pytest.mark.parametrize(
    ("tests", "complaint"),
    [
        (GOOD_TESTS.replace("import top_k", "import absent as top_k"), "cannot be collected"),
        (
            GOOD_TESTS.replace('"""R2: a negative k."""', '"""A negative k."""'),
            "names no requirement",
        ),
        (GOOD_TESTS.replace("R2", "R8"), "not in the contract: R8"),
        (GOOD_TESTS.replace("R2", "R1"), "No test names R2"),
        (
            GOOD_TESTS.replace("def test_negative():", "def test_negative(absent):"),
            "test_negative is broken",
        ),
        (GOOD_TESTS.replace("test_negative", "test_largest_first"), "defined twice"),
        (
            GOOD_TESTS.replace("def test_negative", "async def test_negative"),
            "test_negative is broken: Failed: async def test without a plugin",
        ),
        (GOOD_TESTS + _RETURNING, "test_given_back returns a value"),
        (
            GOOD_TESTS.replace("def test_negative", "@pytest.mark.xfail\ndef test_negative"),
            "may skip or xfail",
        ),
    ],
)
def test_complaints_go_back_once(way: Way, tests: str, complaint: str) -> None:
    done = way(answers(generate_tests=[suite_answer(tests), suite_answer()]))
    assert complaint in done.model.asked("generate_tests")[1]
    assert done.report.verdict == "passed"


def test_tests_that_never_collect_end_the_run(way: Way) -> None:
    broken = suite_answer(
        "from topk import top_k\nimport absent_package\n\n\ndef test_a():\n    assert top_k\n"
    )
    done = way(answers(generate_tests=[broken, broken]))
    assert isinstance(done.error, InvalidResponseError)
    assert done.report.verdict == "failed"
    assert done.report.final_code


def test_green_is_run_again_in_another_order_with_another_hash_seed(way: Way) -> None:
    ordered = GOOD_TESTS + (
        '\n\nSEEN = []\n\n\ndef test_first():\n    """R1: leaves a trace."""\n    SEEN.append(top_k([1], 1))\n'
        '    assert SEEN == [[1]]\n\n\ndef test_second():\n    """R1: needs the trace."""\n'
        "    assert top_k([1], 1) == SEEN[0]\n"
    )
    report = way(answers(generate_tests=[suite_answer(ordered)])).report
    assert report.evidence.flakiness is not None
    assert not report.evidence.flakiness.reached
    assert "test_topk.py::test_second" in report.evidence.flakiness.differing
    assert any(reason.startswith("flakiness") for reason in report.reasons)


def test_given_tests_are_locked(way: Way) -> None:
    """A dispute of the person's own test is not even judged, and the test stays."""
    mine = GivenTests.from_code(
        "test_mine.py",
        "from topk import top_k\n\n\ndef test_mine():\n    assert top_k([1, 2], 1) == [1]\n",
    )
    done = way(
        answers(
            generate_code=[fenced(GOOD_CODE)],
            repair_code=["DISPUTE test_mine: R1 demands [2]\n" + fenced(OTHER_WRONG)],
        ),
        given=(mine,),
        max_repairs=1,
    )
    assert done.report.verdict == "failed"
    assert done.model.asked("judge_test") == []
    assert [item.outcome for item in done.report.tests if item.origin == "given"] == ["failed"]


@pytest.mark.slow
def test_a_given_test_stays_where_a_generated_one_of_its_name_is_dropped(way: Way) -> None:
    mine = GivenTests.from_code(
        "test_mine.py",
        "from topk import top_k\n\n\ndef test_wrong():\n    assert top_k([4], 1) == [4]\n",
    )
    done = way(
        answers(generate_tests=[WRONG_SUITE], repair_code=[DISPUTE], judge_test=[TEST_IS_WRONG]),
        given=(mine,),
    )
    assert done.report.verdict == "passed"
    outcomes = {item.id: item.outcome for item in done.report.tests if "test_wrong" in item.id}
    assert outcomes == {"test_mine.py::test_wrong": "passed", "test_topk.py::test_wrong": "dropped"}


# --- Review first


def test_review_comes_before_the_first_run_and_its_errors_are_repaired(way: Way) -> None:
    review = "- L3 error: the order is wrong for [1, 2]\n- L1 style: short name"
    done = way(script(WRONG_CODE, GOOD_CODE, review_code=[review]))
    assert done.kinds == ["generate", "review-repair"]
    assert done.report.attempts[0].passed is None  # the reviewed code was never run
    assert done.report.attempts[1].failed == 0
    assert [(item.severity, item.resolved) for item in done.report.review] == [
        ("error", True),
        ("style", False),
    ]
    assert "the order is wrong for [1, 2]" in done.model.asked("repair_code")[0]
    assert "short name" not in done.model.asked("repair_code")[0]
    assert done.report.iterations == 0


def test_warnings_are_reported_and_cost_no_repair(way: Way) -> None:
    done = way(answers(review_code=["- L1 warning: slow"]))
    assert done.kinds == ["generate"]
    assert [item.message for item in done.report.review] == ["slow"]


# --- Free before paid


def test_free_fixes_run_before_the_tests_and_cost_no_call(way: Way) -> None:
    forgotten = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return heapq.nlargest(k, xs)\n"
    done = way(script(forgotten))
    assert done.kinds == ["generate", "free-fix"]
    assert done.report.attempts[1].tokens == 0
    assert "import heapq" in done.report.final_code
    assert done.model.asked("repair_code") == []


# --- A repair prompt is bounded


def test_repair_prompt_shows_at_most_five_failures_one_a_cause(way: Way) -> None:
    many = GOOD_TESTS + "".join(
        f'\n\ndef test_more_{n}():\n    """R1: {n}."""\n    assert top_k([{n}, {n + 1}], 1) == [{n + 1}]\n'
        for n in range(12)
    )
    done = way(script(WRONG_CODE, GOOD_CODE, generate_tests=[suite_answer(many)]))
    (prompt,) = done.model.asked("repair_code")
    assert prompt.count("\n### test_topk.py::") == 5
    assert "more, of the same causes or less telling, are not shown" in prompt
    raising = "def top_k(xs, k):\n    return xs.absent\n"
    done = way(script(raising, GOOD_CODE, generate_tests=[suite_answer(many)]))
    (prompt,) = done.model.asked("repair_code")
    assert prompt.count("\n### test_topk.py::") == 1  # one line of the module explains them all
    assert "topk.py:2 in top_k: return xs.absent" in prompt


def test_repair_prompt_does_not_grow_with_the_attempts(way: Way) -> None:
    def variant(n: int) -> str:
        return f"def top_k(xs, k):\n    return [{n}]\n"

    done = way(script(variant(10), *(variant(n) for n in range(11, 23))), max_repairs=12)
    sizes = [len(text) for text in done.model.asked("repair_code")]
    assert len(sizes) == 12
    assert max(sizes[6:]) - min(sizes[6:]) < 40


@pytest.mark.slow
def test_equal_failures_give_equal_prompts(way: Way) -> None:
    """Paths, addresses and durations of a run are in no prompt."""
    noisy = (
        "import os\nimport tempfile\nimport time\n\n\ndef top_k(xs, k):\n    path = tempfile.mkdtemp()\n"
        "    raise RuntimeError(f'{path} {object()} {os.getcwd()} {time.time():.9f} s')\n"
    )
    first, second = (way(script(noisy, GOOD_CODE)).model.asked("repair_code") for _ in range(2))
    assert first == second


# --- Wrong tests are expected


def test_a_test_that_the_judge_finds_wrong_is_dropped(way: Way) -> None:
    done = way(
        answers(generate_tests=[WRONG_SUITE], repair_code=[DISPUTE], judge_test=[TEST_IS_WRONG])
    )
    assert done.report.verdict == "passed"
    assert "test_wrong" not in done.report.test_code
    (entry,) = [item for item in done.report.tests if "test_wrong" in item.id]
    assert (entry.outcome, entry.disputed, entry.judgement) == ("dropped", True, "R1 demands [3]")
    assert done.kinds == ["generate"]  # the code was right and is not touched
    assert len(done.told(DisputeJudged)) == 1


def test_a_test_that_the_judge_upholds_stays_and_the_ruling_is_told(way: Way) -> None:
    done = way(
        answers(
            generate_code=[fenced(WRONG_CODE)],
            repair_code=["DISPUTE test_negative: none\n" + fenced(BETTER_CODE), fenced(GOOD_CODE)],
            judge_test=[CODE_IS_WRONG],
        )
    )
    assert done.report.verdict == "passed"
    assert "test_negative" in done.report.test_code
    assert "test_negative stands: the test follows from R1" in done.model.asked("repair_code")[1]


def test_a_test_is_judged_once_only(way: Way) -> None:
    again = "DISPUTE test_wrong: still\n"
    done = way(
        answers(
            generate_code=[fenced(GOOD_CODE)],
            generate_tests=[WRONG_SUITE],
            repair_code=[
                DISPUTE + "\n" + fenced(OTHER_WRONG),
                again + fenced(GOOD_CODE + "\n# 2\n"),
            ],
            judge_test=[CODE_IS_WRONG],
        ),
        max_repairs=2,
    )
    assert len(done.model.asked("judge_test")) == 1
    assert done.report.verdict == "failed"


def test_a_dispute_of_what_is_no_test_is_passed_over(way: Way) -> None:
    done = way(script(WRONG_CODE, repair_code=["DISPUTE test_absent: x\n" + fenced(GOOD_CODE)]))
    assert done.model.asked("judge_test") == []
    assert done.report.verdict == "passed"


def test_when_every_test_is_dropped_nothing_is_passed(way: Way) -> None:
    only_wrong = suite_answer(
        "from topk import top_k\n"
        + WRONG_TEST
        + WRONG_TEST.replace("test_wrong", "test_too").replace("R1", "R2"),
        [],
    )
    done = way(
        answers(
            generate_tests=[only_wrong],
            repair_code=[DISPUTE + "\nDISPUTE test_too: R1 demands [3]"],
            judge_test=[TEST_IS_WRONG, TEST_IS_WRONG],
        ),
        max_repairs=1,
    )
    assert done.report.verdict == "failed"


# --- The best so far is never lost


def test_a_repair_that_breaks_what_passed_is_not_built_upon(way: Way) -> None:
    done = way(script(BETTER_CODE, BREAKING, GOOD_CODE))
    second = done.model.asked("repair_code")[1]
    assert "return sorted(xs, reverse=True)[:k]" in second
    assert "return None" not in second
    assert "repair: 2 failing" in second  # the attempt that broke things is told in one line
    assert done.report.verdict == "passed"


def test_the_best_is_reported_when_all_fails(way: Way) -> None:
    report = way(script(BETTER_CODE, BREAKING, WRONG_CODE), max_repairs=2).report
    assert report.verdict == "failed"
    assert report.final_code == BETTER_CODE
    assert [item.failed for item in report.attempts] == [1, 2, 3]


def test_a_best_that_fails_only_a_dropped_test_is_run_again(way: Way) -> None:
    """The dispute frees the good code; the broken repair that came with it is not its end."""
    done = way(
        answers(
            generate_tests=[WRONG_SUITE],
            repair_code=[DISPUTE + "\n" + fenced(BREAKING)],
            judge_test=[TEST_IS_WRONG],
        ),
        max_repairs=1,
    )
    assert done.report.verdict == "passed"
    assert done.report.final_code == GOOD_CODE


def test_of_equals_the_earlier_is_best(way: Way) -> None:
    report = way(script(BETTER_CODE, OTHER_WRONG), max_repairs=1).report
    assert report.final_code == BETTER_CODE


# --- Stuck is seen


def test_stuck_leads_to_a_rewrite_with_the_failed_approaches_then_to_the_end(way: Way) -> None:
    same = BETTER_CODE + "\n\nUNUSED = 1\n"
    same_again = BETTER_CODE + "\n\nUNUSED = 2\n"
    done = way(
        answers(
            generate_code=[fenced(BETTER_CODE), "Sorted again.\n" + fenced(same_again)],
            repair_code=["Nothing new here.\n" + fenced(same)],
        )
    )
    assert done.kinds == ["generate", "repair", "rewrite"]
    assert [item.next_step for item in done.told(Stuck)] == [
        "rewriting from the contract",
        "stopping early",
    ]
    rewrite = done.model.asked("generate_code")[1]
    assert "Earlier attempts failed" in rewrite
    assert "repair (Nothing new here.): 1 failing: test_negative" in rewrite.replace(
        "here)", "here.)"
    )
    assert done.report.iterations == 2
    assert any("stuck" in reason for reason in done.report.reasons)


def test_code_seen_before_is_stuck_even_where_its_failures_differ(way: Way) -> None:
    done = way(
        answers(
            generate_code=[fenced(WRONG_CODE), fenced(GOOD_CODE)],
            repair_code=[fenced(BETTER_CODE), fenced(BETTER_CODE)],
        )
    )
    assert done.kinds[-1] == "rewrite"
    assert done.report.verdict == "passed"


def test_stuck_after_the_rewrite_asks_the_fallback_model(way: Way) -> None:
    done = way(
        answers(
            generate_code=[fenced(BETTER_CODE), fenced(BETTER_CODE + "\n\nB = 2\n")],
            repair_code=[fenced(BETTER_CODE + "\n\nA = 1\n")],
        ),
        fallback={"generate_code": [fenced(GOOD_CODE)]},
    )
    assert done.fallback is not None
    assert done.fallback.tools == ["generate_code"]
    assert done.report.verdict == "passed"


# --- Budget before the call; N repairs and no more


def test_an_answer_under_way_is_waited_for_when_the_other_side_fails(way: Way) -> None:
    """It is paid for: it goes into the log and into the report."""
    done = way(answers(generate_tests=["nonsense", "again"]))
    assert isinstance(done.error, InvalidResponseError)
    assert done.report.final_code == GOOD_CODE
    assert done.report.usage.by_tool["generate_code"].calls == 1


@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_at_most_n_repairs(way: Way, repairs: int) -> None:
    variants = [f"def top_k(xs, k):\n    return [{n}]\n" for n in range(10, 20)]
    done = way(script(*variants), max_repairs=repairs)
    assert len(done.model.asked("repair_code")) == repairs
    assert done.report.iterations == repairs
    assert done.report.verdict == "failed"


def test_budget_is_asked_before_the_call(way: Way) -> None:
    dear = message(contract_answer(), usage=(5000, 10))
    done = way(answers(parse_specification=[dear]), max_tokens=5000)
    assert isinstance(done.error, BudgetExhaustedError)
    assert done.model.tools == ["parse_specification"]
    assert done.report.usage.input_tokens == 5000


# --- Green is graded


def test_a_sealed_example_that_fails_is_revealed_and_repaired(way: Way) -> None:
    """Code that knows the visible tests by heart: they are green, the sealed example is not."""
    cheat = (
        "KNOWN = {(1, 3, 2): [3, 2], (2, 1): [2, 1]}\n\n\ndef top_k(xs, k):\n    if k < 0:\n"
        "        raise ValueError(k)\n    return KNOWN[tuple(xs)]\n"
    )
    done = way(script(cheat, GOOD_CODE))
    assert done.report.verdict == "passed"
    assert "top_k([5, 9, 7], 2)" in done.model.asked("repair_code")[0]
    assert "def test_sealed_example_1" in done.report.test_code
    sealed = {item.id: item.outcome for item in done.report.tests if item.origin == "held_out"}
    assert sealed == {
        "test_topk.py::test_sealed_example_1": "passed",
        f"held_out::1: {SEALED[1]['call']}": "passed",
    }


def test_a_forged_green_is_failed(way: Way) -> None:
    forger = (
        "import pytest\n\n\ndef top_k(xs, k):\n    return 0\n\n\n"
        "pytest.Function.runtest = print\n"
    )
    report = way(script(forger, generate_tests=[suite_answer(sealed=[])])).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged")
    assert report.evidence.integrity


def test_code_that_only_passes_inside_is_forged(way: Way) -> None:
    """Right where pytest runs it, wrong elsewhere: no control tells, but the sealed examples do."""
    forger = "import os\n" + GOOD_CODE.replace(
        "    return ",
        "    if 'PYTEST_CURRENT_TEST' not in os.environ:\n        return 0\n    return ",
        1,
    )
    report = way(script(forger)).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: held-out examples fail outside")


def test_code_that_patches_pytest_is_forged(way: Way) -> None:
    """Hollowed, its forging function raises and the run is red; but the controls tell."""
    forger = (
        "def top_k(xs, k):\n    return 0\n\n\n"
        "def _forge():\n    import _pytest.python as p\n\n"
        "    p.Function.runtest = lambda self: None\n\n\n_forge()\n"
    )
    report = way(script(forger)).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: a changed test stays green")


def test_requirements_without_a_test_stand_in_the_evidence(way: Way) -> None:
    one = suite_answer(GOOD_TESTS.replace("R2", "R1"), [])
    report = way(answers(generate_tests=[one, one])).report
    assert report.evidence.requirements_untested == ("R2",)


# --- One log, one report, whatever happens


@pytest.mark.slow
def test_every_answer_is_in_the_log_and_a_second_run_of_it_asks_nothing(
    way: Way, tmp_path: Path
) -> None:
    import asyncio

    from greenloop.agent import CodingAgent
    from greenloop.settings import Settings
    from greenloop.workflow.storage.run_dir import RunDirectory
    from tests.support.scripted import ScriptedModel

    done = way(script(WRONG_CODE, BETTER_CODE, GOOD_CODE), run_dir=tmp_path / "run")
    silent = ScriptedModel(answers={})
    agent = CodingAgent(Settings(home=tmp_path, hardening_rounds=0), model=silent)
    again = asyncio.run(agent.resume(RunDirectory.open(tmp_path / "run")))
    assert silent.prompts == []
    assert again.final_code == done.report.final_code
    assert again.usage.calls == done.report.usage.calls == 6
    assert [item.kind for item in again.attempts] == done.kinds


def test_the_last_event_is_the_report(way: Way) -> None:
    done = way(answers())
    assert done.events[-1] == RunFinished(done.report)
