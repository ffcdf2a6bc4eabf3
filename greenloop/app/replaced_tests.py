"""Comparison of replaced tests with their replacements, by the faults that these notice.

The texts of two tests can differ in any way although both check the same. So tests that a comparison
of texts calls weaker, although they still pass, are run beside today's on mutants of the code that
they run.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from greenloop.app.diff_tests import find_weakened
from greenloop.app.tests_before import name_function
from greenloop.grading import Plan
from greenloop.project.diff import ProjectDiff
from greenloop.project.grading.mutation import measure_mutants
from greenloop.project.runner import ProjectRunner
from greenloop.project.weakening.tests import is_same, read_tests
from greenloop.records import Baseline, Mutation
from greenloop.testsuite.parser import is_test_path

# Kinds of findings that a comparison of texts cannot be sure of.
_REPLACED = ("removed", "emptied", "detached", "fewer checks", "looser")
_NOTICED = ("killed", "timeout", "crashed")
_MUTANTS, _MIN_NOTICED = 60, 8


def find_equalled(
    runner: ProjectRunner,
    diff: ProjectDiff,
    holding: Collection[str],
    baseline: Baseline,
    plan: Plan,
    limit_s: float,
) -> tuple[str, ...]:
    """Return the earlier tests of a change whose faults the new and changed tests notice, too.

    They are those of `holding`, the earlier tests that pass on the changed code, that the change
    seems to remove or weaken. `baseline` has today's tests.
    Raises SandboxError: no process can be started.
    """
    found = (item for item in find_weakened(diff) if item.kind in _REPLACED)
    asked = sorted({item.was for item in found if item.was in holding})
    new = list(dict.fromkeys(_list_new(diff, baseline)))
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
    now = runner.measure_baseline(limit_s, new, once=True)
    lost = noticed.keys() - _list_noticed(measure_mutants(runner, lines, now, plan)).keys()
    weaker = {name_function(noticed[fault]) for fault in lost}
    ran = set(map(name_function, were.locked))
    return tuple(test for test in asked if test in ran - weaker)


def _list_new(diff: ProjectDiff, baseline: Baseline) -> Iterator[str]:
    """Yield the test functions of changed files that are new, changed or inherited."""
    paths = [path for path in diff.before if path in baseline.test_files]
    old = read_tests({path: diff.before[path] or "" for path in paths})
    now = read_tests({path: diff.tree.texts.get(path, "") for path in paths})
    for test in map(name_function, baseline.locked):
        if test.partition("::")[0] in paths and not (
            test in old and is_same(old[test], now.get(test))
        ):
            yield test


def _list_noticed(mutation: Mutation) -> dict[str, str]:
    """Return the mutants that a test noticed, with that test."""
    return {item.id: item.test for item in mutation.tried if item.outcome in _NOTICED}
