"""Tests of a project in its own layout: the results equal those of pytest."""

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.grading.context import GradingContext
from greenloop.grading.mutation import measure_mutation
from greenloop.grading.observation.isolation import measure
from greenloop.project.snapshot import take_snapshot
from greenloop.records import Expectation, Isolated, Project, TestRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program, read_table

FILES = read_table(__file__, "FILES")
FIXED = {"src/shop/cart.py": FILES["src/shop/cart.py"].replace(" + 1", "")}


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def outcomes_by_pytest(root: Path, *more: str) -> dict[str, str]:
    """Return the outcomes of pytest in a folder, by node id, without plugins."""
    text = (root / "pyproject.toml").read_text()
    text = re.sub(r" --cov.* -x|required_plugins.*", "", text)
    (root / "pyproject.toml").write_text(text)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *more]
    variables = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": "src",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    process = subprocess.run(
        command, cwd=root, env=variables, capture_output=True, text=True, timeout=100
    )
    found = dict(re.findall(r"^(\S+::\S+) (PASSED|FAILED|XFAIL)", process.stdout, re.M))
    words = {"PASSED": "passed", "FAILED": "failed", "XFAIL": "xfailed"}
    assert found, process.stdout
    return {name: words[word] for name, word in found.items()}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return take_snapshot(write_files(tmp_path_factory.mktemp("project"), FILES))


@pytest.fixture(scope="module")
def by_pytest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return outcomes_by_pytest(write_files(tmp_path_factory.mktemp("outside"), FILES))


def test_outcomes_equal_those_of_pytest(
    box: Sandbox, project: Project, by_pytest: dict[str, str]
) -> None:
    run = box.run_project(project)
    assert run.outcomes == by_pytest
    assert len(by_pytest) == 6
    assert set(run.failing_tests) >= {"tests/unit/test_cart.py::TestCart::test_total"}
    failure = next(item for item in run.failures if item.test.endswith("test_total"))
    places = [(frame.file, frame.line) for frame in failure.frames]
    assert places == [("tests/unit/test_cart.py", 12), ("tests/helpers.py", 2)]


def test_overlay_is_used_and_runs_are_independent(box: Sandbox, project: Project) -> None:
    fixed = project.with_overlay(FIXED)
    first = box.run_project(fixed)
    ids = frozenset(first.outcomes)
    expected = Expectation(ids=ids, tolerated=frozenset({"tests/unit/test_cart.py::test_expected"}))
    again = box.run_project(fixed, expected=expected, order_seed=3)
    assert first.outcomes == again.outcomes
    assert again.passed, again
    assert [item.id for item in first.tests] != [item.id for item in again.tests]
    assert not box.run_project(project, expected=expected).passed


PROGRAMS = read_program(__file__, "PROGRAMS")


def test_mutants_of_a_module_are_tried_in_its_project(box: Sandbox, project: Project) -> None:
    whole = project.model_copy(update={"targets": ("tests",)})
    view, path = ProjectSandbox(box, whole, "src/shop/cart.py"), "tests/unit/test_cart.py"
    tests = [TestFile(path, FILES[path])]
    found = measure_mutation(view, FIXED["src/shop/cart.py"], tests, module="shop.cart")
    assert (found.score, found.trouble) == (1.0, ""), found


def test_programs_run_in_the_project_without_its_tests(box: Sandbox, project: Project) -> None:
    view = ProjectSandbox(box, project, "src/shop/cart.py")
    code = "import shop.prices\ndef total(numbers): return sum(numbers)\n"
    (row,) = view.observe(code, "shop.cart", PROGRAMS).rows
    assert [text for _, text in row.observations] == [
        '{"value":3}',
        '{"value":false}',
        '{"value":true}',
    ]
    assert view.observe(code, "shop.cart", PROGRAMS, beside=[TestFile("t.py", "")]).error


def test_program_that_raises_runs_again_after_pytest_is_configured(
    box: Sandbox, project: Project
) -> None:
    code = "import sys, shop\ndef total(numbers):\n    return 'pytest' in sys.modules, shop.SIZE\n"
    text = "from shop.cart import total\ndef test_total(): assert total([]) == (False, 2)\n"
    conftest = "import shop, tests.test_settings as s\ndef pytest_configure(): shop.SIZE = s.SIZE\n"
    added = {"tests/conftest.py": conftest, "tests/test_settings.py": "SIZE = 2\n"}
    more = project.with_overlay(added)
    more = more.model_copy(update={"files": (*more.files, *more.overlay), "overlay": ()})
    view = ProjectSandbox(box, more, "src/shop/cart.py")
    tests, first = [TestFile("tests/test_new.py", text)], TestRun(ending="finished")
    found = measure(GradingContext(view, code, tests, "shop.cart", first))
    assert isinstance(found, Isolated)
    assert found.agreed == 1, found


def test_targets_may_be_files_folders_and_tests(box: Sandbox, project: Project) -> None:
    def ids(*targets: str) -> list[str]:
        chosen = project.model_copy(update={"targets": targets})
        return list(box.run_project(chosen.with_overlay(FIXED)).outcomes)

    assert ids("other") == ["other/test_not_asked_for.py::test_other"]
    assert ids(
        "tests/unit/test_cart.py::TestCart::test_count[two]", "other/test_not_asked_for.py"
    ) == [
        "tests/unit/test_cart.py::TestCart::test_count[two]",
        "other/test_not_asked_for.py::test_other",
    ]
    assert len(ids(".")) == 7


BROKEN = {
    "conftest.py": ("import no_such", "conftest.py", "ModuleNotFoundError"),
    "tests/unit/conftest.py": ("1 / 0", "tests/unit", "ZeroDivisionError"),
    "src/shop/cart.py": ("def total(names)\n", "tests/unit/test_cart.py", "SyntaxError"),
    "pyproject.toml": ("[tool.pytest", "", "UsageError"),
}


@pytest.mark.parametrize("path", BROKEN)
def test_cause_of_a_failed_collection_is_reported(
    box: Sandbox, project: Project, path: str
) -> None:
    source, name, exception = BROKEN[path]
    run = box.run_project(project.with_overlay({path: source}))
    assert not run.passed
    assert [(item.test, item.phase, item.exception) for item in run.failures] == [
        (name, "collect", exception)
    ]


def test_file_that_the_code_has_written_to_is_not_collected(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from pathlib import Path\nplace = Path(__file__).with_name('test_b.py')\n"
        "place.write_text(place.read_text().replace('== 2', '== 1'))\n"
    )
    (tmp_path / "test_a.py").write_text("import shop\n\ndef test_a(): pass\n")
    (tmp_path / "test_b.py").write_text("def test_b():\n    assert 1 == 2\n")
    run = box.run_project(take_snapshot(tmp_path))
    assert run.failing_tests == {"test_b.py"}
    assert "test_b.py was changed while tests were imported" in run.failures[0].message


def test_socket_that_the_sandbox_refuses_skips_the_test_that_opens_it(
    box: Sandbox, tmp_path: Path
) -> None:
    code = "import errno\n\ndef listen():\n    raise OSError(errno.EAFNOSUPPORT, 'refused')\n"
    (tmp_path / "shop.py").write_text(code)
    tests = f"{code}\nimport shop\n\ndef test_own(): listen()\ndef test_of_code(): shop.listen()\n"
    (tmp_path / "test_shop.py").write_text(tests)
    run = box.run_project(take_snapshot(tmp_path))
    outcomes = {"test_shop.py::test_own": "skipped", "test_shop.py::test_of_code": "failed"}
    assert run.outcomes == outcomes
    assert "the sandbox refuses Unix sockets" in run.failures[0].message
    assert run.detail.endswith("test_shop.py::test_own")


def test_hanging_test_is_named_with_its_place(box: Sandbox, project: Project) -> None:
    hanging = {"src/shop/prices.py": "def of(name):\n    while True:\n        pass\n"}
    limits = box.limits
    for seconds in (2, 8, 30):  # a busy machine may be slow to start the test
        try:
            box.limits = replace(limits, timeout_s=seconds)
            run = box.run_project(project.with_overlay(hanging))
        finally:
            box.limits = limits
        if run.failures:
            break
    assert run.ending == "timeout"
    assert run.failures[0].test == "tests/unit/test_cart.py::TestCart::test_total"
    assert run.failures[0].frames[-1].file == "src/shop/prices.py"


def test_hash_seed_does_not_change_the_outcomes(box: Sandbox, project: Project) -> None:
    run = box.run_project(project.with_overlay(FIXED), hash_seed=7)
    assert set(run.outcomes.values()) == {"passed", "xfailed"}, run


def test_missing_target_is_refused(project: Project) -> None:
    with ProcessSandbox() as none:
        for target, said in (
            ("no/such", "no such test file"),
            ("../x", "not a path"),
            ("/x", "path"),
        ):
            with pytest.raises(InputError, match=said):
                none.run_project(project.model_copy(update={"targets": (target,)}))
