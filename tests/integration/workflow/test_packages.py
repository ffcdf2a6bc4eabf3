"""Packages of a run: of the contract, of user tests, and those that code turns out to need."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import PackagesError
from greenloop.events import Notice, PackageInstallStarted, PackagesReady, ResponseRejected
from greenloop.workflow.storage.request import GivenTests
from tests.support.change_responses import TESTS as CHANGE_TESTS
from tests.support.change_responses import answer_with_tests, change_answers, change_request
from tests.support.model_responses import GOOD_CODE, answers, contract_answer, fence, suite_answer
from tests.support.programs import read_program
from tests.support.wheels import only_wheels_of, wheel
from tests.support.workflow_runs import RunWorkflow

pytestmark = pytest.mark.slow

USING = GOOD_CODE.replace("return sorted(xs, reverse=True)", "return alpha.down(xs)")
CODE = f"import alpha\n\n\n{USING}"
HIDDEN = f"import importlib\n\nalpha = importlib.import_module('alpha')\n\n\n{USING}"
GIVEN = "from topk import top_k\nimport alpha\n\ndef test_mine():\n    assert top_k([3, 1], 2) == alpha.down([1, 3])\n"


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Offer `alpha`, which needs `beta`, with an empty cache."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    only_wheels_of(folder, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    down = "import beta\n\n\ndef down(xs):\n    return beta.order(xs)[::-1]\n"
    wheel(folder, "alpha", {"alpha.py": down}, requires=["beta"])
    wheel(folder, "beta", {"beta.py": "order = sorted\n"}, "2.5")
    return folder


def script(code: str = CODE, packages: tuple[str, ...] = ("Alpha",), **more: Any) -> dict[str, Any]:
    contract = contract_answer(packages=packages)
    return answers(parse_specification=[contract], generate_code=[fence(code)], **more)


def test_the_packages_of_a_contract_are_installed_once(
    run_workflow: RunWorkflow, wheels: Path
) -> None:
    done = run_workflow(script(), allowed_packages="alpha,beta==2.*")
    assert (done.report.verdict, done.kinds) == ("passed", ["generate"])
    assert done.report.contract
    assert done.report.contract.packages == ("alpha",)
    assert done.events_of(PackageInstallStarted) == [PackageInstallStarted(("alpha",))]
    assert done.events_of(PackagesReady) == [PackagesReady("alpha 1.0", cached=False)]
    found = done.report.environment.packages
    for name, version in (("alpha", "1.0"), ("beta", "2.5")):
        data = (wheels / f"{name}-{version}-py3-none-any.whl").read_bytes()
        assert found[name] == f"{version} sha256:{hashlib.sha256(data).hexdigest()}"
    assert "pytest" in found
    again = run_workflow(script(), allowed_packages="alpha,beta==2.*")
    assert again.events_of(PackagesReady) == [PackagesReady("alpha 1.0", cached=True)]
    assert again.events_of(PackageInstallStarted) == []


def test_prompts_name_what_is_available_and_what_was_agreed(run_workflow: RunWorkflow) -> None:
    done = run_workflow(script(), allowed_packages="alpha,PyYAML")
    (asked,) = done.model.list_prompts("parse_specification")
    assert "one of these packages: alpha, pyyaml (import yaml)." in asked
    assert "standard library and alpha 1.0." in done.model.list_prompts("generate_code")[0]


def test_package_that_is_not_allowed_is_sent_back_once(run_workflow: RunWorkflow) -> None:
    both = [contract_answer(packages=["requests"]), contract_answer(packages=["alpha"])]
    done = run_workflow({**script(), "parse_specification": both}, allowed_packages="alpha")
    assert done.report.verdict == "passed"
    (rejected,) = done.events_of(ResponseRejected)
    assert rejected.why == "Not available: requests. Available packages are: alpha."


@pytest.mark.parametrize("code", [CODE, HIDDEN], ids=["imported", "by name"])
def test_allowed_import_is_installed_without_a_model_call(
    run_workflow: RunWorkflow, code: str
) -> None:
    done = run_workflow(script(code, packages=()), allowed_packages="alpha")
    assert (done.report.verdict, done.kinds) == ("passed", ["generate"])
    assert done.events_of(PackagesReady) == [PackagesReady("alpha 1.0", cached=False)]
    assert "alpha" in done.report.environment.packages


def test_forbidden_import_is_explained_in_prompt_and_notice(run_workflow: RunWorkflow) -> None:
    needy = CODE.replace("import alpha", "import alpha\nimport requests\n\nNET = requests")
    done = run_workflow(script(needy, repair_code=[fence(CODE)]), allowed_packages="alpha")
    assert (done.report.verdict, done.kinds) == ("passed", ["generate", "repair"])
    (asked,) = done.model.list_prompts("repair_code")
    assert "requests is not available; available besides the standard library: alpha" in asked
    notes = [
        item.text for item in done.events_of(Notice) if "--allow-package requests" in item.text
    ]
    assert len(notes) == 1


def test_forbidden_import_in_tests_is_sent_back(run_workflow: RunWorkflow) -> None:
    tests = suite_answer(TESTS + "\n\nimport requests\n\nNET = requests\n")
    done = run_workflow(
        script(generate_tests=[tests, suite_answer(TESTS)]), allowed_packages="alpha"
    )
    assert done.report.verdict == "passed"
    assert (
        "requests is not available; available besides"
        in done.model.list_prompts("generate_tests")[1]
    )


TESTS = read_program(__file__, "TESTS")


def test_imports_of_user_tests_are_installed(run_workflow: RunWorkflow) -> None:
    given = (GivenTests.from_code("test_mine.py", f"import requests_mock\n{GIVEN}"),)
    done = run_workflow(script(GOOD_CODE, packages=()), given=given, allowed_packages="alpha")
    assert done.events_of(PackagesReady) == [PackagesReady("alpha 1.0", cached=False)]
    (note,) = [item.text for item in done.events_of(Notice) if "your tests import" in item.text]
    assert "--allow-package requests-mock" in note
    given = (GivenTests.from_code("test_mine.py", GIVEN),)
    done = run_workflow(script(GOOD_CODE, packages=()), given=given, allowed_packages="alpha")
    assert done.report.verdict == "passed"


def test_unavailable_contract_package_ends_the_run_before_more_calls(
    run_workflow: RunWorkflow, wheels: Path
) -> None:
    (wheels / "beta-2.5-py3-none-any.whl").unlink()
    done = run_workflow(script(), allowed_packages="alpha")
    assert isinstance(done.error, PackagesError)
    assert done.error.exit_status == 4
    assert "there is no wheel of beta" in str(done.error)
    assert done.model.tools == ["parse_specification"]
    assert done.report.contract


def test_unavailable_imported_package_does_not_end_the_run(
    run_workflow: RunWorkflow, wheels: Path
) -> None:
    (wheels / "beta-2.5-py3-none-any.whl").unlink()
    repaired = fence(GOOD_CODE)
    done = run_workflow(script(packages=(), repair_code=[repaired]), allowed_packages="alpha")
    assert (done.report.verdict, done.kinds) == ("passed", ["generate", "repair"])
    assert sum("there is no wheel of beta" in item.text for item in done.events_of(Notice)) == 1


def test_module_named_like_a_package_is_not_installed(run_workflow: RunWorkflow) -> None:
    contract = contract_answer(module="alpha")
    tests = suite_answer(TESTS.replace("topk", "alpha"))
    done = run_workflow(
        answers(parse_specification=[contract], generate_tests=[tests]), allowed_packages="alpha"
    )
    assert done.report.verdict == "passed"
    assert done.events_of(PackagesReady) == []


def test_allowed_package_gets_no_stub_in_a_change(
    run_workflow: RunWorkflow, tmp_path: Path
) -> None:
    uses_package = '''

def test_package():
    """R1: holds already."""
    import alpha

    assert alpha.down([1, 3]) == [3, 1]
'''
    weak = answer_with_tests(CHANGE_TESTS + uses_package)
    script = change_answers(write_change_tests=[weak, weak])
    done = run_workflow(script, request=change_request(tmp_path), allowed_packages="alpha,beta")
    assert "test_package passes on today's code" in done.model.list_prompts("write_change_tests")[1]
