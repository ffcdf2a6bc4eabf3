"""Earlier tests that fail on the changed code, or do not run any more, though their text stands."""

from collections.abc import Collection, Iterator, Sequence

from greenloop.app.tests_before import find_readers, list_defined
from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.comparison import Kind
from greenloop.project.weakening.tests import ComparedTest, is_called_by, is_same, read_tests
from greenloop.records import BaselineResult


def list_reread(
    known: BaselineResult, named: Collection[str], diff: ProjectDiff
) -> Iterator[WeakenedTest]:
    """Yield other tests that pass now, and that the changed code fails as they were.

    Those with the same text have other data or helpers now. Of the others only those count that fail in an
    assertion, or pass without the change, too: with another error they follow another interface. Of tests
    that are made from data no text stands anywhere; the first one of a class is named.
    """
    readers = find_readers(diff)
    before, now = _read_both({*known.outdated} - {*named}, diff)
    for test, item in before.items():
        if test not in known.outdated or test in named or test not in now:
            continue
        is_refuted, is_as_it_was = test in known.refuted, is_same(item, now[test])
        data = readers.get(item.path, "") or (item.path if is_refuted else "")
        if is_as_it_was and data:
            yield _describe_data(test, data, diff)
        elif (is_refuted or test in known.indifferent) and not is_as_it_was:
            texts = _find_difference(item.body, now[test].body)
            kind: Kind = "indifferent" if test in known.indifferent else "exchanged"
            yield WeakenedTest(test, kind, *texts, now[test].line, test, True)
    defined = list_defined(diff.texts_before)
    left = sorted({*known.outdated} - {*named}, reverse=True)
    made = {i.rpartition("::")[0]: i for i in left if i.rpartition("::")[2] not in defined}
    for test in reversed(made.values()):
        if data := readers.get(test.partition("::")[0], ""):
            yield _describe_data(test, data, diff)


def _describe_data(test: str, path: str, diff: ProjectDiff) -> WeakenedTest:
    """Return a test whose data in a file is another, or gone."""
    after = "another text" if path in diff.tree.project.all_files else ""
    return WeakenedTest(test, "data", path, after, was=test, is_replaced=True)


def _find_difference(before: str, after: str) -> tuple[str, str]:
    """Return the first line that only each of two bodies has, '' where there is none."""
    old, new = before.split("\n"), after.split("\n")
    lost, added = ([i for i in one if i not in other] for one, other in ((old, new), (new, old)))
    return next(iter(lost), ""), next(iter(added), "")


def _read_both(
    tests: Collection[str], diff: ProjectDiff
) -> tuple[dict[str, ComparedTest], dict[str, ComparedTest]]:
    """Return the tests of some tests' files before the change, and now."""
    paths = {test.partition("::")[0] for test in tests}
    old, new = diff.texts_before, diff.tree.texts
    return read_tests({p: old.get(p, "") for p in paths}), read_tests(
        {p: new.get(p, "") for p in paths}
    )


def list_silent(
    known: BaselineResult, weakened: Sequence[WeakenedTest], diff: ProjectDiff
) -> Iterator[str]:
    """Yield tests that are still there and passed before, and that do not run now, or lost some cases."""
    named = {item.was for item in weakened}
    before, now = _read_both({*known.silent, *known.fewer} - named, diff)
    for test in known.silent:
        if test not in named and not (test in before and _asks_nothing_here(before[test])):
            path, _, name = test.partition("::")
            yield f"{path}: {name} passed before and does not run now: make it run again"
    added = [item for test, item in now.items() if test not in before]
    for test, number in known.fewer.items():
        old, new = before.get(test), now.get(test)
        is_read = old and new and old.case_count > new.case_count  # the comparison has judged it
        if test not in named and not is_read and not (old and is_called_by(old, added)):
            path, _, name = test.partition("::")
            yield f"{path}: {name} lost {number} of its cases, which passed before: restore them"


def _asks_nothing_here(item: ComparedTest) -> bool:
    """Return whether a test has checks, and makes each of them under a condition only."""
    return bool(item.checks) and all(check.conditions for check in item.checks)
