"""Grades of changed lines: which lines count, and how many mutants are tried."""

from dataclasses import replace
from typing import Any

import pytest

from greenloop.events import ignore_event
from greenloop.grading.coverage.line_map import list_taken_branches, map_lines
from greenloop.project.grading.coverage import find_changed_statements, measure_coverage
from greenloop.project.grading.grader import NOT_IMPORTED, ChangedLines, grade_lines
from greenloop.project.grading.mutation import _describe_tests, _list_tests, _name_whole_functions
from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import ProjectTree
from greenloop.records import Baseline, Coverage, InputFile, Project, Thresholds
from greenloop.testsuite.stubs import with_empty_bodies
from tests.support.programs import read_program, read_table

CODE = read_program(__file__, "CODE")


def test_a_changed_line_inside_a_statement_counts_as_the_statement() -> None:
    assert find_changed_statements(CODE, {6}) == [5]
    assert find_changed_statements(CODE, {2, 10}) == []
    baseline = Baseline(
        locked=("t",), reached={"a.py": {4: "1", 9: "1"}}, branches={"a.py": ("4->9",)}
    )
    found = measure_coverage({"a.py": CODE}, {"a.py": {4, 6}}, baseline, Thresholds())
    assert isinstance(found, Coverage)
    assert (found.line, found.branch, found.reached) == (0.5, 0.5, False)
    assert found.missed_places == ("a.py:5",)
    assert found.missed_branches == ("a.py:4->5",)
    assert measure_coverage({"a.py": CODE}, {}, baseline, Thresholds()) != found


def test_what_runs_only_without_a_package_does_not_count() -> None:
    code = "try:\n    import regex as re\nexcept ImportError:\n    import re\n"
    baseline = Baseline(locked=("t",), reached={"a.py": {1: "1", 2: "1"}})
    found = measure_coverage({"a.py": code}, {"a.py": {1, 2, 3, 4}}, baseline, Thresholds())
    assert isinstance(found, Coverage)
    assert found.missed_places == ()
    code = code.replace("ImportError", "ValueError")
    found = measure_coverage({"a.py": code}, {"a.py": {1, 2, 3, 4}}, baseline, Thresholds())
    assert isinstance(found, Coverage)
    assert "a.py:4" in found.missed_places


def test_hits_are_mapped_to_tests_and_lines_of_their_statements() -> None:
    meaning = map_lines(CODE, {"": 1, "t": 0b1110}, ["s", "t"])
    assert meaning[1] == "0"  # at import
    assert {line for line, mask in meaning.items() if mask == "2"} >= {3, 4}
    assert map_lines("def", {"t": 1}, ["t"]) == {}
    assert list_taken_branches("def", {"t": 1}) == ()


def test_only_functions_of_changed_lines_are_emptied() -> None:
    emptied = with_empty_bodies(CODE, frozenset({6}))
    assert emptied.count("raise NotImplementedError") == 1
    assert "return x" in emptied
    assert with_empty_bodies(CODE, frozenset()).count("NotImplementedError") == 0


@pytest.mark.parametrize(("path", "counts"), read_table(__file__, "CODE"))
def test_code_is_what_tests_import_and_what_is_beside_it(path: str, counts: bool) -> None:
    text = b"{% raw %}\n" if "template" in path else CODE.encode()
    tree = ProjectTree("", Project(files=(InputFile(path=path, content=text),)))
    baseline = Baseline(reached={"src/shop/prices.py": {1: "1"}, "docs/conf.py": {1: "0"}})
    box: Any = None
    change = ChangedLines(ProjectRunner(box, tree), {path: {1}}, baseline)
    assert (path in change.code_lines) is counts
    if path == "src/other/a.py":
        evidence = grade_lines(change, ignore_event)
        told = evidence.not_measured
        (integrity,) = (row for row in evidence.summary() if row.name == "integrity")
        assert (integrity.reached, integrity.text) == (None, f"not measured: {NOT_IMPORTED}")
        assert told["empty_bodies"] == told["mutation"] == told["coverage"] == NOT_IMPORTED
        told = grade_lines(replace(change, skipped_tests=["t.py::t"]), ignore_event).not_measured
        assert told["isolated"] == "no new test passes here (1 skipped or expected to fail)"


@pytest.mark.parametrize(("tests", "count"), [("", 1), ("set('os.getuid')", 0)])
def test_reads_of_the_process_count_on_changed_lines(tests: str, count: int) -> None:
    code = "import os\nUSER = os.getuid()\nMAIN = os.getppid()\n"
    files = {"src/a.py": code, "tests/test_a.py": tests}
    project = Project(
        files=tuple(InputFile(path=path, content=text.encode()) for path, text in files.items())
    )
    box: Any = None
    baseline = Baseline(reached={"src/a.py": {1: "1"}})
    change = ChangedLines(ProjectRunner(box, ProjectTree("", project)), {"src/a.py": {2}}, baseline)
    found = [item.what for item in change.find_integrity_issues()]
    assert len(found) == count
    assert all(what.startswith("of src/a.py `os.getuid` reads") for what in found)


def test_tests_of_a_part_keep_the_order_of_the_suite() -> None:
    baseline = Baseline(locked=("tests/test_b.py::test", "docs/a.rst::a.rst"))
    chosen = {"docs/a.rst::a.rst", "tests/test_a.py::test_new", "tests/test_b.py::test"}
    assert baseline.sort_tests(chosen) == [*baseline.locked, "tests/test_a.py::test_new"]


def test_a_function_is_named_without_its_cases_where_all_of_them_are_chosen() -> None:
    locked = ("t.py::a[1]", "t.py::a[2]", "t.py::b[1]", "t.py::c")
    baseline = Baseline(locked=locked, red=("t.py::b[2]",))
    assert _name_whole_functions([*locked], baseline) == ["t.py::a", "t.py::b[1]", "t.py::c"]
    assert _name_whole_functions(["t.py::a[2]"], baseline) == ["t.py::a[2]"]


def test_what_a_suite_shows_of_its_tests_is_known_for_mutants() -> None:
    reached = {"m.py": {1: "0", 2: "1", 3: "3"}}
    baseline = Baseline(locked=("s", "t"), reached=reached)
    assert _describe_tests(baseline, "m.py", ["s", "t"]) == ()
    seconds = {"durations": {"s": 1.0, "t": 3.0}, "seconds": 4.0, "cpu_s": 2.0}
    baseline = baseline.model_copy(update={**seconds, "starting": frozenset({"t"})})
    one, two = _describe_tests(baseline, "m.py", ["s", "t"])
    assert (one.lines, one.cpu_s, one.wall_s, one.starts_processes) == ({2, 3}, 0.5, 1.0, False)
    assert (two.lines, two.cpu_s, two.wall_s, two.starts_processes) == ({3}, 1.5, 3.0, True)
    assert _list_tests(baseline, "m.py", "x = 1\nx = 2\nx = 3\n", {2}) == ["s"]
    assert _list_tests(baseline, "m.py", "x = 1\nx = 2\nx = 3\nx = 4\n", {4}) == ["t"]
