"""Rules of the loop that need a real sandbox: each test fails when its rule is broken."""

import asyncio
from pathlib import Path

import pytest

from greenloop.agent import CodingAgent
from greenloop.errors import UnusableCodeError
from greenloop.settings import Settings
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.model_responses import (
    BETTER_CODE,
    DISPUTE,
    GOOD_CODE,
    GOOD_TESTS,
    HELD_OUT,
    TEST_IS_WRONG,
    WRONG_CODE,
    WRONG_SUITE,
    answers,
    script,
    suite_answer,
)
from tests.support.scripted import ScriptedModel
from tests.support.workflow_runs import RunWorkflow

_RETURNING = '\n\ndef test_given_back():\n    """R1: one."""\n    return top_k([1], 1) == [1]\n'


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
def test_complaints_are_sent_back_once(
    run_workflow: RunWorkflow, tests: str, complaint: str
) -> None:
    done = run_workflow(answers(generate_tests=[suite_answer(tests), suite_answer()]))
    assert complaint in done.model.list_prompts("generate_tests")[1]
    assert done.report.verdict == "passed"


def test_tests_that_cannot_be_collected_end_the_run(run_workflow: RunWorkflow) -> None:
    broken = suite_answer(
        "from topk import top_k\nimport absent_package\n\n\ndef test_a():\n    assert top_k\n"
    )
    done = run_workflow(answers(generate_tests=[broken, broken]))
    assert isinstance(done.error, UnusableCodeError)
    assert done.report.verdict == "failed"
    assert done.report.final_code


def test_green_is_run_again_in_another_order_with_another_hash_seed(
    run_workflow: RunWorkflow,
) -> None:
    ordered = GOOD_TESTS + (
        '\n\nSEEN = []\n\n\ndef test_first():\n    """R1: leaves a trace."""\n    SEEN.append(top_k([1], 1))\n'
        '    assert SEEN == [[1]]\n\n\ndef test_second():\n    """R1: needs the trace."""\n'
        "    assert top_k([1], 1) == SEEN[0]\n"
    )
    report = run_workflow(answers(generate_tests=[suite_answer(ordered)])).report
    assert report.evidence.flakiness is not None
    assert not report.evidence.flakiness.reached
    assert "test_topk.py::test_second" in report.evidence.flakiness.differing
    assert any(reason.startswith("flakiness") for reason in report.reasons)


@pytest.mark.slow
def test_given_test_stays_when_a_generated_one_of_its_name_is_dropped(
    run_workflow: RunWorkflow,
) -> None:
    mine = GivenTests.from_code(
        "test_mine.py",
        "from topk import top_k\n\n\ndef test_wrong():\n    assert top_k([4], 1) == [4]\n",
    )
    done = run_workflow(
        answers(generate_tests=[WRONG_SUITE], repair_code=[DISPUTE], judge_test=[TEST_IS_WRONG]),
        given=(mine,),
    )
    assert done.report.verdict == "passed"
    outcomes = {item.id: item.outcome for item in done.report.tests if "test_wrong" in item.id}
    assert outcomes == {"test_mine.py::test_wrong": "passed", "test_topk.py::test_wrong": "dropped"}


_MANY = GOOD_TESTS + "".join(
    f'\n\ndef test_more_{n}():\n    """R1: {n}."""\n    assert top_k([{n}], 1) == [{n}]\n'
    for n in range(3)
)


def test_autofixes_run_before_the_tests_without_a_model_call(run_workflow: RunWorkflow) -> None:
    forgotten = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return heapq.nlargest(k, xs)\n"
    done = run_workflow(script(forgotten))
    assert done.kinds == ["generate", "free-fix"]
    assert done.report.attempts[1].tokens == 0
    assert "import heapq" in done.report.final_code
    assert done.model.list_prompts("repair_code") == []


@pytest.mark.slow
def test_equal_failures_give_equal_prompts(run_workflow: RunWorkflow) -> None:
    """Paths, addresses and durations of a run are in no prompt."""
    noisy = (
        "import os\nimport tempfile\nimport time\n\n\ndef top_k(xs, k):\n    path = tempfile.mkdtemp()\n"
        "    raise RuntimeError(f'{path} {object()} {os.getcwd()} {time.time():.9f} s')\n"
    )
    first, second = (
        run_workflow(script(noisy, GOOD_CODE)).model.list_prompts("repair_code") for _ in range(2)
    )
    assert first == second


def test_failed_held_out_example_becomes_a_test_and_is_repaired(run_workflow: RunWorkflow) -> None:
    """The code memorizes the visible tests; the held-out example fails."""
    cheat = (
        "KNOWN = {(1, 3, 2): [3, 2], (2, 1): [2, 1]}\n\n\ndef top_k(xs, k):\n    if k < 0:\n"
        "        raise ValueError(k)\n    return KNOWN[tuple(xs)]\n"
    )
    done = run_workflow(script(cheat, GOOD_CODE))
    assert done.report.verdict == "passed"
    assert "test_held_out_example_" in done.model.list_prompts("repair_code")[0]
    assert "def test_held_out_example_1" in done.report.test_code
    held_out = {item.id: item.outcome for item in done.report.tests if item.origin == "held_out"}
    revealed = (f"test_topk.py::test_held_out_example_{number}" for number in (1, 2, 3))
    assert held_out == dict.fromkeys((*revealed, f"held_out::1: {HELD_OUT[3]['call']}"), "passed")


def test_forged_green_run_is_failed(run_workflow: RunWorkflow) -> None:
    forger = (
        "import pytest\n\n\ndef top_k(xs, k):\n    return 0\n\n\n"
        "pytest.Function.runtest = print\n"
    )
    report = run_workflow(script(forger, generate_tests=[suite_answer(held_out=[])])).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged")
    assert report.evidence.integrity


def test_code_that_is_right_only_under_pytest_is_forged(run_workflow: RunWorkflow) -> None:
    """Only the held-out examples detect code that is wrong outside of pytest."""
    forger = "import os\n" + GOOD_CODE.replace(
        "    return ",
        "    if 'PYTEST_CURRENT_TEST' not in os.environ:\n        return 0\n    return ",
        1,
    )
    report = run_workflow(script(forger)).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: held-out examples fail without the tests")


def test_code_that_patches_pytest_is_forged(run_workflow: RunWorkflow) -> None:
    """With empty bodies the forging function raises; assertion mutation detects it."""
    forger = (
        "def top_k(xs, k):\n    return 0\n\n\n"
        "def _forge():\n    import _pytest.python as p\n\n"
        "    p.Function.runtest = lambda self: None\n\n\n_forge()\n"
    )
    report = run_workflow(script(forger)).report
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: a changed test stays green")


@pytest.mark.slow
def test_resumed_run_takes_all_answers_from_the_log(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    done = run_workflow(script(WRONG_CODE, BETTER_CODE, GOOD_CODE), run_dir=tmp_path / "run")
    silent = ScriptedModel(answers={})
    agent = CodingAgent(Settings(home=tmp_path, hardening_rounds=0, peer=False), model=silent)
    again = asyncio.run(agent.resume(RunDirectory.open(tmp_path / "run")))
    assert silent.prompts == []
    assert again.final_code == done.report.final_code
    assert again.usage.calls == done.report.usage.calls
    assert [item.kind for item in again.attempts] == done.kinds
