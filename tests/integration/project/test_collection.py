"""Collection of a project's tests without its own environment."""

from collections.abc import Iterator, Mapping

import pytest

from greenloop.encodings import decode_source
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


def test_a_test_that_skips_a_subtest_has_the_outcome_of_its_other_parts(box: Sandbox) -> None:
    tests = (
        "import unittest\n\nclass T(unittest.TestCase):\n    def check(self, good):\n"
        "        with self.subTest('a'):\n            assert good\n"
        "        with self.subTest('b'):\n            self.skipTest('not here')\n"
        "    def test_good(self): self.check(True)\n"
        "    def test_bad(self): self.check(False)\n"
    )
    outcomes = {"test_a.py::T::test_bad": "failed", "test_a.py::T::test_good": "passed"}
    assert run(box, {"test_a.py": tests}).outcomes == outcomes


def test_several_tests_of_one_name_are_one_that_fails_where_one_does(box: Sandbox) -> None:
    hooks = (
        "import pytest\nclass Case(pytest.Item):\n    def runtest(self): assert self.good\n"
        "class Cases(pytest.File):\n    def collect(self):\n        for good in (True, False, True):\n"
        "            case = Case.from_parent(self, name='case')\n            case.good = good\n"
        "            yield case\n"
        "def pytest_collect_file(file_path, parent):\n    if file_path.suffix == '.case':\n"
        "        return Cases.from_parent(parent, path=file_path)\n"
    )
    found = run(box, {"conftest.py": hooks, "a.case": "", "test_b.py": "def test_b(): pass\n"})
    assert found.outcomes == {"a.case::case": "failed", "test_b.py::test_b": "passed"}, found


def test_a_changed_file_keeps_the_encoding_that_it_declares(box: Sandbox) -> None:
    code = "# coding: latin-1\nNAME = 'é'\n"
    tests = "import names\ndef test_a(): assert names.NAME == '\\xe9'\n"
    files = {"names.py": code.encode("latin-1"), "test_a.py": tests.encode()}
    inputs = tuple(InputFile(path=path, content=content) for path, content in files.items())
    changed = Project(files=inputs).with_overlay({"names.py": decode_source(files["names.py"])})
    assert box.run_project(changed).outcomes == {"test_a.py::test_a": "passed"}
