"""Healing of a module: user tests, small repairs, and no changes in the project itself."""

import asyncio
import hashlib
from pathlib import Path

import pytest

from greenloop.app.inputs.heal_files import read_layout, read_original
from greenloop.events import Notice, RepairSearchDone
from greenloop.records import Choice, ChoiceAnswer, Report
from greenloop.workflow.heal.request import HealModuleRequest
from tests.support.model_responses import BETTER_CODE, GOOD_CODE, GOOD_TESTS, WRONG_CODE, fence
from tests.support.workflow_runs import RunWorkflow

OTHER_WRONG = WRONG_CODE.replace("sorted(xs)", "list(xs)")
WITH_HELPER = WRONG_CODE + "\n\ndef smallest(xs):\n    return min(xs)\n"


def alone(tmp_path: Path, code: str, tests: str = GOOD_TESTS) -> HealModuleRequest:
    """Write a module and its test file into one folder."""
    file, test_file = tmp_path / "topk.py", tmp_path / "test_topk.py"
    file.write_text(code)
    test_file.write_text(tests)
    return request_of(file, test_file)


def request_of(file: Path, *tests: Path) -> HealModuleRequest:
    module, given, project = read_layout(file, tests, None)
    fields = {"module": module, "given": given, "project": project, "search_s": 0.1}
    return HealModuleRequest(original=read_original(file), **fields)


def project(tmp_path: Path, code: str) -> HealModuleRequest:
    """Write a package with a relative import, a conftest with a fixture, and two test files."""
    root = tmp_path / "shop"
    for name, text in {
        "pyproject.toml": "[project]\nname = 'shop'\n",
        ".env": "SECRET=hunter2\n",
        "shop/__init__.py": "",
        "shop/rates.py": "VAT = 0.25\n",
        "shop/prices.py": code,
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef net():\n    return 100\n",
        "tests/test_prices.py": (
            "from shop.prices import gross\n\ndef test_gross(net):\n    assert gross(net) == 125\n"
        ),
        "tests/deep/test_more.py": (
            "from shop.prices import gross\n\ndef test_nothing():\n    assert gross(0) == 0\n"
        ),
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return request_of(root / "shop/prices.py", root / "tests")


AMBIGUOUS = """def clamp(x, low, high):
    if x > low:
        return low
    if x > high:
        return high
    return x
"""
FEW_TESTS = """from topk import clamp

def test_low(): assert clamp(1, 2, 5) == 2
def test_high(): assert clamp(9, 2, 5) == 5
"""


class LastPatch:
    """A user who chooses the last of the patches."""

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        self.choice = choice
        answer = choice.answers[-1]
        return ChoiceAnswer(question_sha256=choice.sha256, how="user", answer=answer)


@pytest.mark.parametrize("is_project", [False, True])
def test_several_patches_are_told_apart_by_an_input(
    run_workflow: RunWorkflow, tmp_path: Path, is_project: bool
) -> None:
    request = alone(tmp_path, AMBIGUOUS, FEW_TESTS)
    if is_project:
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg/__init__.py").touch()
        file, tests = tmp_path / "pkg/topk.py", tmp_path / "test_topk.py"
        file.write_text(AMBIGUOUS)
        tests.write_text(FEW_TESTS.replace("topk", "pkg.topk"))
        request = request_of(file, tests)
    assert bool(request.project) == is_project
    request = request.model_copy(update={"search_s": 20.0})
    done = run_workflow({}, request=request, model="none")
    (note,) = [item for item in done.report.reasons if item.startswith("patches: ")]
    assert "all tests also pass with" in note
    assert "clamp(" in note
    user = LastPatch()
    chosen = run_workflow({}, request=request, model="none", asker=user)
    assert len(user.choice.answers) > 1
    assert chosen.report.attempts[-1].remark == user.choice.answers[-1]
    assert chosen.report.final_code != done.report.final_code


def test_healthy_module_needs_no_model_call(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow({}, request=alone(tmp_path, GOOD_CODE))
    assert done.report.verdict == "passed"
    assert done.model.tools == []
    assert any("nothing to heal" in item.text for item in done.events_of(Notice))
    assert {item.origin for item in done.report.tests} == {"given"}


def test_repair_prompt_shows_failures_and_tests(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow({"repair_code": [fence(GOOD_CODE)]}, request=alone(tmp_path, WRONG_CODE))
    assert done.kinds == ["generate", "repair"]
    assert done.report.verdict == "passed"
    assert done.report.original == WRONG_CODE
    (prompt,) = done.model.list_prompts("repair_code")
    assert "def test_negative" in prompt
    assert "Change as little as possible" in prompt


def test_repair_that_removes_a_function_is_rejected(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    kept = GOOD_CODE + "\n\ndef smallest(xs):\n    return min(xs)\n"
    answers = {"repair_code": [fence(GOOD_CODE), fence(kept)]}
    done = run_workflow(answers, request=alone(tmp_path, WITH_HELPER))
    first, second = done.model.list_prompts("repair_code")
    assert "smallest" in second.removeprefix(first)
    assert done.report.final_code == kept


def test_user_test_cannot_be_disputed(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    answer = "DISPUTE test_negative: it should be an empty list\n" + fence(BETTER_CODE)
    done = run_workflow(
        {"repair_code": [answer]}, request=alone(tmp_path, WRONG_CODE), max_repairs=1
    )
    assert done.report.verdict == "failed"
    assert "not repaired: 1 repair was made" in done.report.reasons
    assert "judge_test" not in done.model.tools
    assert done.report.final_code == BETTER_CODE  # fewer failures: the best so far


def test_stuck_repair_restarts_from_the_original(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    answers = {"repair_code": [fence(OTHER_WRONG), fence(OTHER_WRONG), fence(GOOD_CODE)]}
    done = run_workflow(answers, request=alone(tmp_path, WRONG_CODE))
    assert done.report.verdict == "passed"
    assert "as it was at first" in done.model.list_prompts("repair_code")[-1]


def test_module_in_a_project_is_healed_in_its_layout(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    wrong = "from .rates import VAT\n\n\ndef gross(net):\n    return net - net * VAT\n"
    right = wrong.replace("net - net", "net + net")
    request = project(tmp_path, wrong)
    assert request.project is not None
    assert request.module == "shop.prices"
    before = _digests(tmp_path / "shop")
    done = run_workflow({"repair_code": [fence(right)]}, request=request)
    assert done.report.verdict == "passed"
    assert {item.id for item in done.report.tests} == {
        "tests/test_prices.py::test_gross",
        "tests/deep/test_more.py::test_nothing",
    }
    assert "def test_gross(net)" in done.model.list_prompts("repair_code")[0]
    assert "hunter2" not in str(done.model.prompts)
    assert _digests(tmp_path / "shop") == before


def test_names_of_the_project_are_no_packages_and_a_missing_import_ends_the_search(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    wrong = "def gross(net):\n    return net\n"
    request = project(tmp_path, wrong)
    (tmp_path / "shop/shop/__init__.py").write_text("from shop._version import version\n")
    done = run_workflow({"repair_code": [fence(wrong)] * 9}, request=request)
    (ended,) = [item.search.ended for item in done.events_of(RepairSearchDone)]
    assert ended == "the tests cannot be imported: No module named 'shop._version'"
    assert not [i for i in done.events_of(Notice) if "--allow-package" in i.text]


def test_version_file_that_a_build_writes_is_added(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    request = project(tmp_path, "def gross(net):\n    return net + net // 4\n")
    (tmp_path / "shop/shop/__init__.py").write_text("from shop._version import version\n")
    (tmp_path / "shop/pyproject.toml").write_text(
        '[tool.hatch.build.hooks.vcs]\nversion-file = "shop/_version.py"\n'
    )
    assert run_workflow({}, request=request).report.verdict != "failed"
    assert not (tmp_path / "shop/shop/_version.py").exists()


def test_module_with_a_syntax_error_is_healed(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    broken = GOOD_CODE.replace("    if k < 0:", "    if k < 0")
    done = run_workflow({"repair_code": [fence(GOOD_CODE)]}, request=alone(tmp_path, broken))
    assert done.report.verdict == "passed"
    assert done.report.final_code == GOOD_CODE


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_comparison_that_fails_takes_nothing_from_a_patch(
    run_workflow: RunWorkflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("greenloop.workflow.heal.module.compare_programs", fail)
    request = alone(tmp_path, AMBIGUOUS, FEW_TESTS).model_copy(update={"search_s": 20.0})
    done = run_workflow({}, request=request, model="none")
    assert done.report.verdict == "passed"
    assert any("were not searched for: too deep" in reason for reason in done.report.reasons)


class Interrupted:
    """A user who ends the run at the question."""

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        raise asyncio.CancelledError


def test_patch_that_was_found_is_reported_by_a_run_that_is_interrupted_later(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    request = alone(tmp_path, AMBIGUOUS, FEW_TESTS).model_copy(update={"search_s": 20.0})
    with pytest.raises(asyncio.CancelledError):
        run_workflow({}, request=request, model="none", asker=Interrupted())
    (saved,) = (tmp_path / "home" / "runs").glob("*/report.json")
    report = Report.model_validate_json(saved.read_text())
    assert report.final_code == report.patches[0].code != AMBIGUOUS
    assert report.attempts[-1].failed == 0
