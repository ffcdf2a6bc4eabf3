"""Comparison of replaced tests with their replacements, by the faults that these notice.

The texts of two tests can differ in any way although both check the same. So earlier tests that a
comparison of texts finds removed or weaker, although they still pass, are run beside today's on
mutants of the code that they run.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import replace

from greenloop.app.diff_tests import find_weakened
from greenloop.app.tests_before import name_function
from greenloop.grading import Plan
from greenloop.project.diff import ProjectDiff
from greenloop.project.grading.mutation import measure_mutants
from greenloop.project.runner import ProjectRunner
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.tests import ComparedTest, is_same, read_tests
from greenloop.records import Baseline, Mutation
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

# Kinds of findings of which a comparison of texts cannot be sure.
_REPLACED = ("removed", "emptied", "detached", "fewer checks")
_NOTICED = ("killed", "timeout", "crashed")
_ERRORS = ("Error", "Exception", "Warning")
_MUTANTS, _MIN_NOTICED = 60, 3


def find_equalled(
    runner: ProjectRunner,
    diff: ProjectDiff,
    holding: Collection[str],
    baseline: Baseline,
    plan: Plan,
    limit_s: float,
) -> tuple[str, ...]:
    """Return the earlier tests of a change that its new and changed tests replace.

    They are those of `holding`, the earlier tests that pass on the changed code, that the change
    seems to remove or weaken, although its tests have all their values and errors, and notice all
    faults (mutants) that they notice. `baseline` has today's tests.
    Raises SandboxError: no process can be started.
    """
    old, now = _read_both(diff)
    told = _list_told(diff)
    found = {item.was for item in find_weakened(diff) if item.kind in _REPLACED}
    kept = {test: told | _list_values(now[test]) if test in now else told for test in old}
    asked = sorted(i for i in found.intersection(holding, old) if _list_values(old[i]) <= kept[i])
    today = map(name_function, baseline.locked)
    new = list(dict.fromkeys(i for i in today if _is_new(i, diff, old, now)))
    if not asked or not new:
        return ()
    tests = {path: text for path, text in diff.before.items() if is_test_path(path)}
    earlier = replace(runner, tree=runner.tree.with_changes({**diff.data, **tests}))
    plan = replace(plan, mutants=_MUTANTS)
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


def _read_both(diff: ProjectDiff) -> tuple[Mapping[str, ComparedTest], Mapping[str, ComparedTest]]:
    """Return the tests of changed test files, before the change and now."""
    paths = [path for path in diff.before if is_test_path(path)]
    texts = {path: diff.before[path] or "" for path in paths}
    return read_tests(texts), read_tests({path: diff.tree.texts.get(path, "") for path in paths})


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
        if not lines.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            yield node


def _list_values(test: ComparedTest) -> set[str]:
    """Return the constants of a test, and the names of errors."""
    return {*test.values, *(name for name in test.names if name.endswith(_ERRORS))}


def _list_noticed(mutation: Mutation) -> dict[str, str]:
    """Return the mutants that a test noticed, with that test."""
    return {item.id: item.test for item in mutation.tried if item.outcome in _NOTICED}
