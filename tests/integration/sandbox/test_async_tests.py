"""Async and property tests: run by packages that can run them, else reported as failures."""

import importlib.util
import os
import shutil
from collections.abc import Iterator

import pytest

from greenloop.dependencies import InstalledPackages
from greenloop.grading.mutation import measure_mutation
from greenloop.records import InputFile, Project, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.mounts import list_site_entries
from greenloop.sandbox.guest.pytest_plugin.failure_details import ASYNC_ADVICE
from greenloop.sandbox.guest.pytest_plugin.unexecuted_tests import FALSE_ADVICE, GENERATOR_ADVICE
from greenloop.testsuite.quality_gates import NOT_RUN_MESSAGES
from tests.integration.sandbox.conftest import list_tested_kinds, make_sandbox
from tests.support.programs import read_program

_PACKAGES = ("anyio", "hypothesis", "pytest_asyncio")
_missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
needs_packages = pytest.mark.skipif(bool(_missing), reason=f"not installed: {_missing}")
CODE = "async def double(n): return n * 2\ndef plain(n): return n * 2\n"
ALONE = read_program(__file__, "ALONE")


@pytest.fixture(scope="module")
def alone(box: Sandbox) -> TestRun:
    return box.run_tests(CODE, ALONE)


def test_async_test_without_a_plugin_fails_with_advice(alone: TestRun) -> None:
    refused = {
        f"test_solution.py::{name}"
        for name in (
            "test_bare",
            "test_generator",
            "TestGroup::test_method",
            "test_xfail",
            "Plain::test_unit",
            "test_wrapped",
            "Back::test_wrapped",
        )
    }
    reported = [item.test for item in alone.failures if item.message == ASYNC_ADVICE]
    assert sorted(reported) == sorted(refused)
    assert {alone.outcomes[name] for name in refused} == {"failed"}
    assert "asyncio.run(" in ASYNC_ADVICE


def test_return_value_does_not_make_a_test_pass(alone: TestRun) -> None:
    messages = {
        item.test.partition("::")[2]: item.message
        for item in alone.failures
        if item.message != ASYNC_ADVICE
    }
    assert messages == {
        "Back::test_generator": GENERATOR_ADVICE,
        "Back::test_false": FALSE_ADVICE,
        "test_false[1]": FALSE_ADVICE,
    }
    assert alone.failing_tests == {item.test for item in alone.failures}
    assert alone.outcomes["test_solution.py::test_false[2]"] == "passed"
    assert alone.outcomes["test_solution.py::test_returns_nothing"] == "passed"
    assert alone.outcomes["test_solution.py::Back::test_returns_nothing"] == "passed"


def test_quality_gates_recognize_the_advice() -> None:
    assert ASYNC_ADVICE.startswith(NOT_RUN_MESSAGES)
    assert GENERATOR_ADVICE.startswith(NOT_RUN_MESSAGES)


def test_async_unittest_cases_run(alone: TestRun) -> None:
    assert alone.outcomes["test_solution.py::Waiting::test_unit"] == "passed"
    assert alone.outcomes["test_solution.py::test_run"] == "passed"


WITH_PACKAGES = read_program(__file__, "WITH_PACKAGES")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> InstalledPackages:
    """Copy the packages from this interpreter, as an index may be out of reach."""
    folder = tmp_path_factory.mktemp("cache") / "site-packages"
    for name, path in list_site_entries(_PACKAGES):
        copy = shutil.copytree if os.path.isdir(path) else shutil.copy
        folder.mkdir(exist_ok=True)
        copy(path, folder / name)
    for above in (folder, *folder.parents[:3]):
        above.chmod(0o755)
    return InstalledPackages(_PACKAGES, str(folder))


@pytest.fixture(scope="module", params=list_tested_kinds())
def with_packages(
    request: pytest.FixtureRequest, installed: InstalledPackages
) -> Iterator[Sandbox]:
    with make_sandbox(request.param) as box:
        yield box.with_packages(installed)


@needs_packages
@pytest.mark.parametrize("hash_seed", [0, 5], ids=["warm", "cold"])
def test_installed_packages_are_used(with_packages: Sandbox, hash_seed: int) -> None:
    run = with_packages.run_tests(CODE, WITH_PACKAGES, module="solution", hash_seed=hash_seed)
    wrong = {item.test.partition("::")[2]: item for item in run.failures}
    assert set(wrong) == {"test_asyncio_wrong", "test_unmarked", "test_property_wrong"}, str(run)
    assert run.passed_count == len(run.tests) - 3
    assert wrong["test_unmarked"].message == ASYNC_ADVICE
    assert wrong["test_asyncio_wrong"].assertion is not None
    assert "n=1000" in wrong["test_property_wrong"].message.replace(" ", "").replace("500", "1000")


@pytest.mark.slow
@needs_packages
def test_hypothesis_repeats_its_examples(with_packages: Sandbox) -> None:
    tests = (
        "from hypothesis import given, strategies as st\nfrom solution import plain\nseen = []\n"
        "@given(st.integers())\ndef test_a(n): seen.append(n)\n"
        "def test_b(): assert not seen\n"
    )
    runs = [with_packages.run_tests(CODE, tests, module="solution") for _ in range(2)]
    first, second = (run.failures[0].message for run in runs)
    assert first == second


@needs_packages
def test_plugins_run_the_tests_of_a_project(with_packages: Sandbox) -> None:
    files = {
        "pytest.ini": b"[pytest]\nasyncio_mode = auto\nfilterwarnings = error\n",
        "test_a.py": b"async def test_a(tmp_path): pass\n",
    }
    inputs = tuple(InputFile(path=path, content=text) for path, text in files.items())
    run = with_packages.run_project(Project(files=inputs))
    assert run.outcomes == {"test_a.py::test_a": "passed"}, run


MUTATED = read_program(__file__, "MUTATED")


@pytest.mark.slow
@needs_packages
def test_mutants_are_tried_with_plugins(with_packages: Sandbox) -> None:
    found = measure_mutation(with_packages, CODE, MUTATED, module="solution")
    assert (found.score, found.survived, found.trouble) == (1.0, (), "")
