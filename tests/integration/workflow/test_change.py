"""Changes of a project: tests first, locked tests, repairs, disputes, and what is never changed."""

import json
from pathlib import Path

import pytest

from greenloop.errors import (
    ContradictedTestError,
    InputError,
    InvalidResponseError,
    SpecificationError,
)
from greenloop.workflow.change import workspace
from greenloop.workflow.storage.request import GivenTests
from tests.support.change_responses import (
    BREAKS_LOCKED,
    DISCOUNT,
    GREEN_TEST,
    REPAIRED,
    TESTS,
    WRONG_DISCOUNT,
    WRONG_TEST,
    answer_with_tests,
    change_answers,
    change_request,
    plan_answer,
)
from tests.support.model_responses import fence
from tests.support.workflow_runs import RunWorkflow

MENDS_RATES = """# file: src/shop/rates.py
<<<<<<< SEARCH
RATES = {"standard": 20, "reduced": 10}
=======
RATES = {"standard": 25, "reduced": 10}
>>>>>>> REPLACE
"""

CHECK = "from shop.prices import gross\n\n\ndef test_gross():\n    assert gross(100) == 125\n"
WEAKER_CHECK = """# file: checks/check_prices.py
<<<<<<< SEARCH
    assert gross(100) == 125
=======
    assert gross(100)
>>>>>>> REPLACE
"""


def test_wish_becomes_a_patch_with_tests(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow(change_answers(), request=change_request(tmp_path))
    report = done.report
    assert (report.verdict, report.command) == ("passed", "change"), report.reasons
    assert done.model.tools == [
        "locate_change",
        "plan_change",
        "review_code",
        "write_change_tests",
        "write_change",
    ]
    assert report.change is not None
    assert [(item.path, item.removed) for item in report.change.files] == [
        ("src/shop/prices.py", 3),
        ("tests/test_discount.py", 0),
    ]
    assert report.change.baseline.locked == 5
    assert report.evidence.red_phase is not None
    assert report.evidence.red_phase.reached


def test_tests_and_code_are_written_without_seeing_each_other(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    done = run_workflow(change_answers(), request=change_request(tmp_path))
    (for_tests,), (for_code,) = map(done.model.list_prompts, ("write_change_tests", "write_change"))
    assert "def total(" in for_tests
    assert "sum(gross(net)" not in for_tests
    assert "test_whole_discount" not in for_code


def test_failing_new_test_leads_to_a_repair(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    script = change_answers(write_change=[WRONG_DISCOUNT], repair_change=[REPAIRED])
    done = run_workflow(script, request=change_request(tmp_path))
    assert (done.report.verdict, done.kinds) == ("passed", ["generate", "repair"])
    (prompt,) = done.model.list_prompts("repair_change")
    assert "test_discount" in prompt
    assert "whole * 2 * discount" in prompt
    assert "* 2 *" not in done.report.final_code


def test_broken_locked_test_is_no_success(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    script = change_answers(write_change=[BREAKS_LOCKED])
    done = run_workflow(script, request=change_request(tmp_path), max_repairs=0)
    assert done.report.verdict == "failed"
    assert any("tests/test_prices.py::test_gross" in item for item in done.report.reasons)
    script = change_answers(write_change=[BREAKS_LOCKED], repair_change=[MENDS_RATES])
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed"
    assert "rates.py" not in done.report.final_code


def test_candidate_that_breaks_a_locked_test_is_not_built_upon(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    breaking = REPAIRED + BREAKS_LOCKED.split("# file: ")[2].join(["# file: ", ""])
    script = change_answers(write_change=[WRONG_DISCOUNT], repair_change=[breaking, REPAIRED])
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed"
    assert [item.based_on for item in done.report.attempts] == [None, 1, 1]


def test_wrong_new_test_is_disputed_and_dropped(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    script = change_answers(
        write_change_tests=[answer_with_tests(TESTS + WRONG_TEST)],
        write_change=[WRONG_DISCOUNT],
        repair_change=[f"DISPUTE test_wrong: half of 5 is 2 or 3\n\n{REPAIRED}"],
        judge_test=[fence('{"wrong": "test", "because": "R1 demands 3"}', "json")],
    )
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed"
    assert "test_wrong" not in done.report.final_code
    assert [item.id for item in done.report.tests if item.disputed] == [
        "tests/test_discount.py::test_wrong"
    ]


@pytest.mark.parametrize(("code", "has_tests"), [(DISCOUNT, False), (WRONG_DISCOUNT, True)])
def test_change_is_graded_and_untested_requirements_named_where_the_only_new_test_was_wrong(
    run_workflow: RunWorkflow, tmp_path: Path, code: str, has_tests: bool
) -> None:
    script = change_answers(
        write_change_tests=[answer_with_tests(TESTS.partition("\n\n")[0] + WRONG_TEST)] * 2,
        write_change=[code],
        repair_change=[REPAIRED],
        judge_test=[fence('{"wrong": "test", "because": "R1 demands 3"}', "json")],
        harden_tests=[fence("# nothing")] * 2,
    )
    request = change_request(tmp_path)
    done = run_workflow(script, request=request, mutants=5, hardening_rounds=1)
    assert done.report.verdict == "passed", done.error
    assert ("requirements without a test: R1" in done.report.reasons) != has_tests
    assert ("tests/test_discount.py" in done.report.final_code) == has_tests  # held-out examples


def test_locked_test_cannot_be_disputed(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    script = change_answers(
        write_change=[BREAKS_LOCKED],
        repair_change=["DISPUTE tests/test_prices.py::test_gross: it should be 120"],
    )
    done = run_workflow(script, request=change_request(tmp_path), max_repairs=1)
    assert done.report.verdict == "failed"
    assert "judge_test" not in done.model.tools


def test_test_that_passes_today_is_sent_back_and_then_dropped(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    weak = answer_with_tests(TESTS + GREEN_TEST)
    script = change_answers(write_change_tests=[weak, weak])
    done = run_workflow(script, request=change_request(tmp_path))
    _, again = done.model.list_prompts("write_change_tests")
    assert "test_green passes on today's code" in again
    assert "test_green" not in done.report.final_code
    assert done.report.verdict == "passed"


def test_tests_are_added_to_an_existing_file(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    added = TESTS.replace("test_discount.py", "test_prices.py")
    done = run_workflow(
        change_answers(write_change_tests=[answer_with_tests(added)]),
        request=change_request(tmp_path),
    )
    assert done.report.verdict == "passed"
    assert "-def test" not in done.report.final_code
    assert done.report.test_code.count("def test_") == 3


def test_given_tests_take_the_place_of_written_ones(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    code = TESTS.partition("\n")[2]
    given = (GivenTests.from_code("tests/test_discount.py", code),)
    script = change_answers(write_change_tests=[])
    done = run_workflow(script, request=change_request(tmp_path, given=given))
    assert (done.report.verdict, done.model.tools[-1]) == ("passed", "write_change")
    passing = "from shop.prices import total\n\n\ndef test_now():\n    assert total([4]) == 5\n"
    given = (GivenTests.from_code("tests/test_x.py", passing),)
    done = run_workflow(script, request=change_request(tmp_path, given=given))
    assert isinstance(done.error, SpecificationError)
    assert "nothing to change" in str(done.error)


def test_given_tests_that_fail_in_the_project_today_are_shown_and_are_new(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    request, code = change_request(tmp_path), TESTS.partition("\n")[2]
    (Path(request.root) / "tests/test_discount.py").write_text(code)
    given = (GivenTests.from_code("tests/test_discount.py", code),)
    done = run_workflow(change_answers(), request=request.model_copy(update={"given": given}))
    assert "def test_discount(hundred):" in done.model.list_prompts("plan_change")[0]
    assert done.report.evidence.isolated is not None, done.report.reasons
    assert done.report.evidence.isolated.tests == 2  # the third passes today: it is locked


def test_what_given_files_lack_is_not_locked(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    code = TESTS.partition("\n")[2]
    given = (GivenTests.from_code("tests/test_prices.py", code),)  # the only file with tests
    script = change_answers(write_change_tests=[])
    done = run_workflow(script, request=change_request(tmp_path, given=given))
    assert done.report.verdict == "passed", done.report.reasons


def test_contradicted_test_ends_the_run(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    plan = plan_answer(contradicts=["tests/test_prices.py::test_total"])
    done = run_workflow(change_answers(plan_change=[plan]), request=change_request(tmp_path))
    assert isinstance(done.error, ContradictedTestError)
    assert done.model.tools == ["locate_change", "plan_change"]


def test_wish_without_a_change_is_refused(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    plan = plan_answer(requirements=[], summary="the text says only hello")
    done = run_workflow(change_answers(plan_change=[plan]), request=change_request(tmp_path))
    assert isinstance(done.error, SpecificationError)
    assert "hello" in str(done.error)


def test_what_stays_and_uses_what_is_new_is_sent_back_and_then_dropped(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    kept = [
        {"id": "K1", "text": "Without a discount total stays.", "tests": []},
        {"id": "K2", "text": "total([4], discount=0) is 5.", "tests": []},
    ]
    plan = plan_answer(keep=kept)
    script = change_answers(plan_change=[plan, plan])
    done = run_workflow(script, request=change_request(tmp_path))
    _, again = done.model.list_prompts("plan_change")
    assert "K2 is to hold today and uses discount, which does not exist yet" in again
    assert done.report.contract is not None
    assert [item.id for item in done.report.contract.keep] == ["K1"]
    assert any("K2 was dropped" in item for item in done.report.reasons)
    assert done.report.verdict == "passed", done.error


def test_edit_outside_of_the_fence_goes_back_to_the_model(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    outside = "# file: setup.py\n" + fence("print('hi')\n")
    inside = change_answers()["write_change"][0]
    script = change_answers(write_change=[outside, inside])
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed"
    assert "setup.py may not be changed" in done.model.list_prompts("write_change")[1]


def test_tests_under_another_name_are_not_changed(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    request = change_request(tmp_path)
    root = Path(request.root)
    (root / "checks").mkdir()
    (root / "checks" / "check_prices.py").write_text(CHECK)
    with (root / "pyproject.toml").open("a") as file:
        file.write('testpaths = ["tests", "checks"]\npython_files = ["test_*.py", "check_*.py"]\n')
    text = (root / "pyproject.toml").read_text().replace('testpaths = ["tests"]\n', "")
    (root / "pyproject.toml").write_text(text)
    plan = plan_answer(fence=["src/shop/*.py", "checks/*.py"])
    inside = change_answers()["write_change"][0]
    script = change_answers(plan_change=[plan], write_change=[inside + WEAKER_CHECK, inside])
    done = run_workflow(script, request=request)
    assert "checks/check_prices.py is a test" in done.model.list_prompts("write_change")[1]
    assert (done.report.verdict, "check_prices" in done.report.final_code) == ("passed", False)


def test_file_that_is_needed_is_shown_once(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    need = fence(json.dumps({"need": ["src/shop/rates.py"]}), "json")
    script = change_answers(locate_change=[need, *change_answers()["locate_change"]])
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed"
    assert "def rate_of" in done.model.list_prompts("locate_change")[1]


def test_resumed_run_measures_no_baseline_and_pays_for_no_answer(
    run_workflow: RunWorkflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, run_dir = change_request(tmp_path), tmp_path / "run"
    script = change_answers(write_change=[OSError("cut off")])
    assert "cut off" in str(run_workflow(script, request=request, run_dir=run_dir).error)

    class Unmeasured(workspace.ProjectRunner):
        def measure_baseline(self) -> workspace.Baseline:
            raise AssertionError("the baseline was measured again")

    monkeypatch.setattr(workspace, "ProjectRunner", Unmeasured)
    done = run_workflow({"write_change": change_answers()["write_change"]}, resume=run_dir)
    assert (done.report.verdict, done.model.tools) == ("passed", ["write_change"])


def test_project_whose_tests_do_not_run(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    request = change_request(tmp_path)
    (Path(request.root) / "tests" / "conftest.py").write_text("import nowhere_to_be_found\n")
    done = run_workflow(change_answers(), request=request)
    assert isinstance(done.error, InputError)
    assert "--no-baseline" in str(done.error)


def test_package_is_made_in_an_empty_folder(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    code = "".join(
        f"# file: shop/{name}.py\n{fence(text)}\n\n"
        for name, text in {
            "__init__": '"""A shop."""\n',
            "prices": "def total(nets, discount=0):\n"
            "    whole = sum(net + net * 25 // 100 for net in nets)\n"
            "    return whole - whole * discount // 100\n",
        }.items()
    )
    tests = answer_with_tests(
        TESTS.replace("(hundred)", "()").replace("[hundred, hundred]", "[100, 100]")
    )
    script = change_answers(
        locate_change=[],
        plan_change=[plan_answer(fence=["shop/*.py"], keep=[])],
        write_change_tests=[tests.replace("K1: as", "R1: as")],
        write_change=[code],
    )
    done = run_workflow(script, request=change_request(tmp_path))
    assert done.report.verdict == "passed", (done.error, done.report.reasons)
    assert done.model.tools == ["plan_change", "review_code", "write_change_tests", "write_change"]


def test_change_follows_the_style_of_the_project(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    request = change_request(tmp_path)
    with (Path(request.root) / "pyproject.toml").open("a") as file:
        file.write("\n[tool.ruff]\nline-length = 100\n")
    crooked = change_answers()["write_change"][0].replace("whole - whole", "whole  -  whole")
    done = run_workflow(change_answers(write_change=[crooked]), request=request)
    assert done.report.verdict == "passed"
    assert "+    return whole - whole * discount // 100\n" in done.report.final_code


def test_project_without_a_baseline_runs_the_new_tests_alone(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    request = change_request(tmp_path, measures_baseline=False)
    (Path(request.root) / "tests" / "test_endless.py").write_text("while True:\n    pass\n")
    done = run_workflow(change_answers(), request=request)
    assert done.report.verdict == "passed"
    assert any("--no-baseline" in item for item in done.report.reasons)


@pytest.mark.parametrize(
    "tool", ["locate_change", "plan_change", "write_change_tests", "write_change"]
)
def test_nonsense_at_any_call_is_sent_back_and_ends_the_run(
    run_workflow: RunWorkflow, tmp_path: Path, tool: str
) -> None:
    script = change_answers(**{tool: ["I would rather talk about the weather."] * 2})
    done = run_workflow(script, request=change_request(tmp_path))
    assert isinstance(done.error, InvalidResponseError)
    assert tool in str(done.error)
    assert done.error.exit_status == 1


def test_nonsense_of_a_second_reading_keeps_the_change(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    script = change_answers(write_peer=["The weather is fine."] * 2)
    done = run_workflow(script, request=change_request(tmp_path), peer=True)
    assert (done.report.verdict, done.error) == ("passed", None)
    assert any("second implementation: not measured" in item for item in done.report.reasons)
