"""Comparison of replaced tests with their replacements, by the faults that these notice.

The texts of two tests can differ in any way although both check the same. So earlier tests that a
comparison of texts finds removed or weaker, although they still pass, are run beside today's on
mutants of the code that they run.
"""

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from greenloop.app.tests_before import name_function, read_both
from greenloop.project.diff import ProjectDiff
from greenloop.project.grading import ChangedLines
from greenloop.project.grading.mutation import measure_mutants
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.tests import ComparedTest, is_same
from greenloop.records import Mutation
from greenloop.syntax.nodes import list_lines
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

# Kinds of findings of which a comparison of texts cannot be sure.
REPLACED = ("removed", "emptied", "detached", "fewer checks")
_ERRORS = ("Error", "Exception", "Warning")
_MUTANTS, _MIN_NOTICED = 60, 3


def find_equalled(
    change: ChangedLines, diff: ProjectDiff, seeming: Set[str], limit_s: float
) -> tuple[str, ...]:
    """Return the earlier tests of a change that its new and changed tests replace.

    They are those of `seeming`, which pass on the changed code and seem to be removed or weaker, of
    which the tests of the change have all values and errors, and notice all faults (mutants).
    `change` has today's tests.
    Raises SandboxError: no process can be started.
    """
    runner, plan = change.runner, replace(change.timed_plan, mutants=_MUTANTS)
    old, now = read_both([*filter(is_test_path, diff.before)], diff)
    told = _list_told(diff)
    kept = {test: told | _list_values(now[test]) if test in now else told for test in old}
    asked = sorted(i for i in seeming & old.keys() if _list_values(old[i]) <= kept[i])
    today = map(name_function, change.baseline.locked)
    new = list(dict.fromkeys(i for i in today if _is_new(i, diff, old, now)))
    if not asked or not new:
        return ()
    tests = {path: text for path, text in diff.before.items() if is_test_path(path)}
    earlier = replace(runner, tree=runner.tree.with_changes({**diff.data, **tests}))
    were = earlier.measure_baseline(limit_s, asked, once=True)
    lines = {path: were.find_tested_lines(path) for path in were.reached if not is_test_path(path)}
    lines = {path: chosen for path, chosen in lines.items() if chosen}
    noticed = _list_noticed(measure_mutants(earlier, lines, were, plan))
    if len(noticed) < _MIN_NOTICED:
        return ()
    are = runner.measure_baseline(limit_s, new, once=True)
    lost = noticed.keys() - _list_noticed(measure_mutants(runner, lines, are, plan)).keys()
    weaker = {name_function(noticed[fault]) for fault in lost}
    ran = set(map(name_function, were.locked))
    return tuple(test for test in asked if test in ran - weaker)


def _is_new(
    test: str,
    diff: ProjectDiff,
    old: Mapping[str, ComparedTest],
    now: Mapping[str, ComparedTest],
) -> bool:
    """Return whether a test of a changed file is new, changed or inherited."""
    is_kept = test in old and is_same(old[test], now.get(test))
    return test.partition("::")[0] in diff.before and not is_kept


def _list_told(diff: ProjectDiff) -> set[str]:
    """Return the constants and names in new lines of tests."""
    found: set[str] = set()
    for path, lines in diff.lines.items():
        if is_test_path(path):
            for node in _iter_nodes(diff.tree.texts[path], lines):
                found |= list_values(node) if isinstance(node, ast.Constant) else list_names(node)
    return found


def _iter_nodes(text: str, lines: Set[int]) -> Iterator[ast.AST]:
    """Yield the constants and names on some lines."""
    kinds = (ast.Constant, ast.Name, ast.Attribute)
    found = [node for node in ast.walk(parse_or_empty(text)) if isinstance(node, kinds)]
    for node in found:
        if not lines.isdisjoint(list_lines(node)):
            yield node


def _list_values(test: ComparedTest) -> set[str]:
    """Return the constants of a test, and the names of errors."""
    return {*test.values, *(name for name in test.names if name.endswith(_ERRORS))}


def _list_noticed(mutation: Mutation) -> dict[str, str]:
    """Return the mutants that a test noticed, with that test."""
    return {item.id: item.test for item in mutation.tried if item.is_noticed}
