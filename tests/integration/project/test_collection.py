"""Collection of a project's tests without its own environment."""

from collections.abc import Iterator, Mapping

import pytest

from greenloop.records import InputFile, Project, TestRun
from greenloop.sandbox.base import Sandbox
from tests.integration.sandbox.conftest import isolating_kinds, make_sandbox


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    kinds = isolating_kinds()
    if not kinds:
        pytest.skip("no sandbox works here")
    with make_sandbox(kinds[0]) as opened:
        yield opened


def run(box: Sandbox, files: Mapping[str, str]) -> TestRun:
    inputs = (InputFile(path=path, content=text.encode()) for path, text in files.items())
    return box.run_project(Project(files=tuple(inputs)))


def test_a_file_that_skips_itself_is_skipped(box: Sandbox) -> None:
    skipping = "import pytest\npytest.importorskip('no_such_package')\ndef test_a(): pass\n"
    unittest = "import unittest\nraise unittest.SkipTest('not here')\n"
    plain = "def test_b(): pass\n"
    files = {"test_a.py": skipping, "test_b.py": plain, "test_c.py": unittest}
    outcomes = {"test_a.py": "skipped", "test_b.py::test_b": "passed", "test_c.py": "skipped"}
    found = run(box, files)
    assert found.outcomes == outcomes, found
    found = run(box, {**files, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    assert found.outcomes == outcomes, found


@pytest.mark.parametrize(
    "configuration",
    [
        "addopts = -p pytest_none -n auto --strict-markers --cov=shop --timeout 3 -x",
        "filterwarnings = error\ntimeout = 10\nminversion = 99\nrequired_plugins = pytest-none",
    ],
)
def test_marks_options_and_settings_of_absent_plugins_are_known(
    box: Sandbox, configuration: str
) -> None:
    tests = "import pytest\n@pytest.mark.timeout(5)\ndef test_a(): pass\n"
    found = run(box, {"pytest.ini": f"[pytest]\n{configuration}\n", "tests/test_a.py": tests})
    assert found.outcomes == {"tests/test_a.py::test_a": "passed"}, found
