"""Findings on earlier tests that fail on the changed code, or silently no longer run."""

import re
from collections.abc import Collection, Iterator, Sequence

from greenloop.app.tests_before import find_readers, list_defined, read_both
from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.comparison import Kind
from greenloop.project.weakening.tests import ComparedTest, is_called_by, is_same
from greenloop.records import BaselineResult
from greenloop.testsuite.parser import has_hooks

_COLLECTING_HOOK = re.compile(
    r": pytest_(collection_modify|ignore_collect|pycollect|runtest_setup)"
)


def list_reread(
    known: BaselineResult, named: Collection[str], diff: ProjectDiff
) -> Iterator[WeakenedTest]:
    """Yield tests not in `named` that pass now or are gone, but whose old versions fail now.

    A test with the same text has other data or helpers. One with another text counts only if the
    old version fails in an assertion, or the new one also passes without the change: other errors
    come from a new interface. Of generated tests, the first one of each class is yielded.
    """
    readers = find_readers(diff)
    before, now = read_both(_list_files({*known.outdated} - {*named}), diff)
    for test, item in before.items():
        if test not in known.outdated or test in named:
            continue
        if test not in now:
            if test in known.refuted:  # another test has its input, and expects something else
                yield WeakenedTest(test, "rewritten", item.first_check, was=test)
            continue
        is_refuted, is_as_it_was = test in known.refuted, is_same(item, now[test])
        data = readers.get(item.path, "") or (item.path if is_refuted else "")
        if is_as_it_was and data:
            yield _describe_data(test, data, diff)
        elif (is_refuted or test in known.indifferent) and not is_as_it_was:
            texts = _find_difference(item, now[test])
            kind: Kind = "indifferent" if test in known.indifferent else "exchanged"
            yield WeakenedTest(test, kind, *texts, now[test].line, test, True)
    defined = list_defined(diff.texts_before)
    left = sorted({*known.outdated} - {*named}, reverse=True)
    made = {i.rpartition("::")[0]: i for i in left if i.rpartition("::")[2] not in defined}
    for test in reversed(made.values()):
        if data := readers.get(test.partition("::")[0], ""):
            yield _describe_data(test, data, diff)


def _describe_data(test: str, path: str, diff: ProjectDiff) -> WeakenedTest:
    """Return the finding for a test whose data file has changed or is gone."""
    after = "another text" if path in diff.tree.project.all_files else ""
    return WeakenedTest(test, "data", path, after, was=test, is_replaced=True)


def _find_difference(before: ComparedTest, after: ComparedTest) -> tuple[str, str]:
    """Return the first removed and the first added line of a body, '' if there is none.

    If the bodies are equal, return constants of the cases.
    """
    if before.body == after.body:
        old, new = sorted(before.values), sorted(after.values)
    else:
        old, new = before.body.split("\n"), after.body.split("\n")
    lost, added = ([i for i in one if i not in other] for one, other in ((old, new), (new, old)))
    return next(iter(lost), ""), next(iter(added), "")


def _list_files(tests: Collection[str]) -> set[str]:
    return {test.partition("::")[0] for test in tests}


def list_silent(
    known: BaselineResult, weakened: Sequence[WeakenedTest], diff: ProjectDiff
) -> Iterator[str]:
    """Yield a line for each existing test that passed before, and has stopped or lost cases."""
    named = {item.was for item in weakened}
    before, now = read_both(_list_files({*known.silent, *known.fewer} - named), diff)
    for test in known.silent:
        if test not in named and not (test in before and _asks_nothing_here(before[test])):
            path, _, name = test.partition("::")
            yield f"{path}: {name} passed before and does not run now: make it run again"
    added = [item for test, item in now.items() if test not in before]
    for test, number in known.fewer.items():
        old, new = before.get(test), now.get(test)
        is_read = old and new and _are_cases_read(old) and old.case_count > new.case_count
        is_moved = old and _count_moved(old, new, added) >= number
        if test not in named and not is_read and not is_moved:
            path, _, name = test.partition("::")
            yield f"{path}: {name} lost {number} of its cases, which passed before: restore them"


def _are_cases_read(item: ComparedTest) -> bool:
    """Return whether the comparison has judged each case, as each has a check of its own."""
    return len({check.text for check in item.checks}) >= item.case_count


def _count_moved(
    item: ComparedTest, now: ComparedTest | None, added: Sequence[ComparedTest]
) -> int:
    """Return the number of cases of a test whose values are in added tests of the same code."""
    alike = [other for other in added if is_called_by(item, [other])]
    values = frozenset().union(*(other.values for other in alike))
    values |= {value for other in alike for check in other.checks for value in check.values}
    lost = item.values - now.values if now else frozenset()
    if not _are_cases_read(item) and lost:  # a case may set a state that no check names
        return item.case_count if lost <= values else 0
    moved = sum(frozenset() < check.values <= values for check in item.checks)
    return moved * item.case_count // max(len(item.checks), 1) if alike else 0


def _asks_nothing_here(item: ComparedTest) -> bool:
    """Return whether a test has checks, and all of them are conditional."""
    return bool(item.checks) and all(check.conditions for check in item.checks)


def drop_selecting(loosened: Sequence[str], diff: ProjectDiff) -> list[str]:
    """Return the findings on configuration without those on hooks that only select tests.

    A plug-in may do more if a changed module has hooks.
    """
    modules = [path for path in diff.lines if not path.endswith("conftest.py")]
    is_plain = not any(has_hooks(diff.tree.texts[path]) for path in modules)
    kept = [item for item in loosened if not _COLLECTING_HOOK.search(item)]
    return [item for item in kept if not (is_plain and ": pytest_plugins " in item)]
