"""Tests missing from pytest's report: the code under test removed them."""

import ast
from collections import Counter
from collections.abc import Sequence

from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.grading.assertion_mutation.runs import group_ids_by_function
from greenloop.records import TestRun
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks
from greenloop.testsuite.skips import can_skip_file


def find_unreported_tests(
    tests: Sequence[TestFile], run: TestRun, marks: str = ".mark."
) -> tuple[str, ...]:
    """Return the ids of tests that pytest should have reported but did not, or not with each row.

    Only certain cases count: module-level functions without decorators other than `marks`, in
    files that do not influence collection.
    """
    if any(has_hooks(item.code) for item in tests):
        return ()
    reported = Counter({key: len(ids) for key, ids in group_ids_by_function(run).items()})
    return tuple(
        f"a row of {item.name}::{name}" if reported[item.name, name] else f"{item.name}::{name}"
        for item in tests
        if item.name != "conftest.py"
        for name, rows in _count_rows(item.code, marks).items()
        if reported[item.name, name] < rows
    )


def _count_rows(code: str, marks: str) -> dict[str, int]:
    """Return the number of rows of each function that pytest certainly collects as a test."""
    tree = parse_or_none(code)
    if tree is None or "__test__" in code or can_skip_file(code):
        return {}
    found = {
        node.name: len(list(read_rows(node.decorator_list, [i.arg for i in node.args.args]))) or 1
        for node in tree.body
        if isinstance(node, Function)
        and node.name.startswith("test")
        and all(marks in f".{ast.unparse(item)}" for item in node.decorator_list)
    }
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {name: rows for name, rows in found.items() if name not in stored}
