"""Baselines of projects: which tests count, and which lines each of them runs."""

from pathlib import Path

import pytest

from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import read_tree
from greenloop.records import TestOutcome, TestRun
from greenloop.sandbox.base import Sandbox
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
SMALL, LARGE = "tests/test_sizes.py::test_small", "tests/test_sizes.py::test_large"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "src/shop/__init__.py": "",
        "src/shop/sizes.py": CODE,
        "tests/test_sizes.py": TESTS,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_lines_have_the_tests_that_run_them(box: Sandbox, root: Path) -> None:
    found = ProjectRunner(box, read_tree(root)).measure_baseline()
    assert found.problem == ""
    ids = {name.rpartition("::")[2] for name in found.locked}
    assert ids == {"test_small", "test_large[3]", "test_large[4]", "test_only_as_it_is"}
    assert [name.rpartition("::")[2] for name in found.red] == ["test_red"]
    assert found.flaky == ()
    lines = found.lines["src/shop/sizes.py"]
    both = {SMALL, f"{LARGE}[3]", f"{LARGE}[4]"}
    assert [set(lines[at]) for at in (8, 9, 10)] == [both] * 3  # one statement
    assert set(lines[11]) == {SMALL}
    large = both - {SMALL}
    assert [set(lines[at]) for at in (13, 14, 15, 17)] == [large] * 4  # with the except clause
    assert 21 not in lines
    assert set(lines[4]) == both  # runs at import: the tests of the file
    assert found.branches["src/shop/sizes.py"] == ("8->11", "8->12")


def run_of(outcomes: dict[str, str]) -> TestRun:
    tests = tuple(TestOutcome(id=key, outcome=value) for key, value in outcomes.items())  # type: ignore[arg-type]
    return TestRun(ending="finished", exit_status=0, tests=tests)


def test_a_test_that_ends_in_two_ways_is_flaky(
    box: Sandbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run_of({"a": "passed", "b": "passed", "c": "failed", "d": "failed"})
    traced = run_of({"a": "passed", "b": "failed", "c": "passed", "d": "failed"})
    once_more = run_of({"b": "failed", "c": "passed"})

    def run(_: ProjectRunner, changed: object, tests: object = None, **options: object) -> TestRun:
        if tests is not None:
            return once_more
        return traced if "hits" in options else plain

    monkeypatch.setattr(ProjectRunner, "run", run)
    found = ProjectRunner(box, read_tree(root)).measure_baseline()
    assert (set(found.locked), found.red, found.flaky) == ({"a"}, ("d",), ("b", "c"))


def test_a_suite_that_takes_too_long_is_a_problem(box: Sandbox, root: Path) -> None:
    (root / "tests" / "test_slow.py").write_text("def test_slow():\n    while True: pass\n")
    found = ProjectRunner(box, read_tree(root)).measure_baseline(limit_s=2)
    assert found.problem.startswith("the tests did not finish: still running after 2 s")
    assert not found.locked
