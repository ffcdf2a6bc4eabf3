"""Static comparison of a project's tests before and after a change.

A test is not weaker if it was renamed, moved, parametrized, merged into another test, put into a
base class, or removed with its tested code, as long as its checks still exist and are as strong.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType

from greenloop.project.weakening.checks import Check
from greenloop.project.weakening.comparison import (
    WeakenedTest,
    compare_tests,
)
from greenloop.project.weakening.conditions.strength import Strength
from greenloop.project.weakening.doubles import is_tool, list_patches, list_shadowed
from greenloop.project.weakening.names import (
    add_helpers,
    iter_definitions,
    list_called_roots,
    list_standard_names,
)
from greenloop.project.weakening.skips import find_excusing
from greenloop.project.weakening.tests import (
    ComparedTest,
    is_called_by,
    is_same,
    list_called,
    pair_tests,
    read_tests,
)
from greenloop.syntax.nodes import Function


def find_weakened_tests(
    before: Mapping[str, str],
    after: Mapping[str, str],
    removed_names: Collection[str] = (),
    changed_names: Collection[str] = (),
    around: Mapping[str, str] = MappingProxyType({}),
    code_names: Collection[str] = (),
    read: Callable[..., Mapping[str, ComparedTest]] = read_tests,
) -> list[WeakenedTest]:
    """Return how the tests of `after` are weaker than those of `before`; both map paths to texts.

    `removed_names` are definitions that the change removes from the code: their tests may go.
    `changed_names` are those that the change edits: a test that replaces them with doubles proves
    nothing. `around` are the other test files, which may have base classes. `code_names` are the
    definitions of the code, if known. `read` finds tests in texts.
    """
    old, new = read(before), read(after)
    helpers = [set(_list_helpers(texts)) for texts in (before, after)]
    others = frozenset((helpers[0] ^ helpers[1]).difference(code_names))
    if others and read is read_tests:  # code moved from tests to helpers, or back
        old, new = (read(texts, others) for texts in (before, after))
    successors = pair_tests(old, new)
    unfolded = [item for item in new.values() if not is_same(item, old.get(item.test))]
    own_tests = [item for test, item in new.items() if test not in old and not item.is_helper]
    found = [*_compare_overridden(own_tests, {**around, **before}, removed_names)]
    added = [check for item in own_tests for check in _list_whole(item)]
    unchanged = {path: text for path, text in around.items() if path not in before}
    kept = _count_kept(old.values(), new.values(), unchanged.values())
    gone = {p: add_helpers(text, after.get(p, ""), removed_names) for p, text in before.items()}
    taken = {now.test for now in successors.values()}
    fresh = (item for item in unfolded if item.test not in taken and not item.is_helper)
    room = {item.test: len(_list_whole(item)) for item in fresh}
    for test, item in old.items():
        if (now := successors.get(test)) is not None:
            found += compare_tests(item, now, kept, removed_names, added)
            found += _find_detached(item, now, code_names, after.get(now.path, ""))
        elif not (
            _is_replaced(item, unfolded, gone[item.path], kept) or _stands_in(item, unchanged)
        ):
            uses = list_called(item) - {i.name for i in iter_definitions(before[item.path])}
            asked = uses.intersection(code_names) if code_names else uses - {*dir(builtins)}
            other = _find_rewritten(item, asked, room, new)
            found.append(_describe_loss(item, other, unfolded, asked))
    found.extend(_find_replacing(unfolded, old, code_names, changed_names))
    found += _find_replacing_files(before, after, changed_names)
    for test, was, shown, line in find_excusing(before, after):
        found.append(WeakenedTest(test, "fewer checks", was, shown, line))
    return list(dict.fromkeys(found))


def _list_helpers(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the functions in test files that are no tests."""
    for text in texts.values():
        functions = (i for i in iter_definitions(text) if isinstance(i, Function))
        yield from (item.name for item in functions if not item.name.startswith("test"))


def _find_detached(
    old: ComparedTest, now: ComparedTest, code: Collection[str], text: str
) -> Iterator[WeakenedTest]:
    """Yield a test that called functions of the project, and uses none of them now.

    All its checks have to call built-in functions or the standard library: a method of `self`, a
    fixture or a helper may be of the project. `text` is the file.
    """
    if old.is_helper or not (old.checks and now.checks) or list_called(old).isdisjoint(code):
        return
    called = {name for check in now.checks for name in list_called_roots(check.text)}
    if called and called <= list_standard_names(text) and now.names.isdisjoint(code):
        texts = old.checks[0].text, now.checks[0].text
        yield WeakenedTest(now.test, "detached", *texts, now.line, old.test, True)


def _describe_loss(
    item: ComparedTest,
    other: ComparedTest | None,
    others: Collection[ComparedTest],
    called: Collection[str],
) -> WeakenedTest:
    """Return the finding for a test that was removed or, with `other`, rewritten."""
    first = item.first_check
    if other is None:
        again = is_called_by(item, others, called)
        return WeakenedTest(item.test, "removed", first, was=item.test, is_replaced=again)
    shown = other.first_check
    return WeakenedTest(other.test, "rewritten", first, shown, other.line, was=item.test)


def _find_replacing(
    unfolded: Collection[ComparedTest],
    old: Mapping[str, ComparedTest],
    code_names: Collection[str],
    changed_names: Collection[str],
) -> Iterator[WeakenedTest]:
    """Yield tests that replace changed code which they call, or code they did not replace before."""
    known = {*code_names}.intersection(changed_names)
    for item in unfolded:
        hidden = item.mocked - old[item.test].mocked if item.test in old else frozenset[str]()
        if mocked := (hidden & known) | (item.mocked & list_called(item) & {*changed_names}):
            names = ", ".join(sorted(mocked))
            yield WeakenedTest(item.test, "mocked", names, "a replacement", item.line)
        elif others := hidden & {*code_names}:
            names = ", ".join(sorted(others))
            yield WeakenedTest(item.test, "isolated", names, "a replacement", item.line, item.test)


def _find_replacing_files(
    before: Mapping[str, str], after: Mapping[str, str], changed_names: Collection[str]
) -> Iterator[WeakenedTest]:
    """Yield files that newly replace changed code, or assertion functions, for all their tests."""
    for path, text in after.items():
        old = before.get(path, "")
        known = list_patches(old)
        for name, line in {**list_shadowed(old, text), **list_patches(text)}.items():
            if (name in changed_names or is_tool(name)) and name not in known:
                yield WeakenedTest(f"{path}::this file", "mocked", name, "a replacement", line)


def _compare_overridden(
    added: Collection[ComparedTest], texts: Mapping[str, str], removed_names: Collection[str]
) -> Iterator[WeakenedTest]:
    """Yield the ways in which new tests are weaker than the inherited ones that they override."""
    for item, own in _find_overridden(added, texts):
        not_asked = dict.fromkeys((check.text for check in item.checks), -1)
        yield from compare_tests(item, own, not_asked, removed_names)


def _find_overridden(
    added: Collection[ComparedTest], texts: Mapping[str, str]
) -> Iterator[tuple[ComparedTest, ComparedTest]]:
    """Yield inherited tests, each with the new test of a subclass that overrides it."""
    members = [item for item in added if item.test.count("::") > 1]
    nodes = [i for t in texts.values() if members and "class " in t for i in iter_definitions(t)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    bases = {i.name: [ast.unparse(base).rpartition(".")[2] for base in i.bases] for i in classes}
    above = {item.test: list(bases.get(item.test.split("::")[-2], ())) for item in members}
    for several in above.values():
        for base in several:
            several += [name for name in bases.get(base, ()) if name not in several]
    wanted = tuple({f"class {name}" for several in above.values() for name in several})
    texts = {path: text for path, text in texts.items() if any(name in text for name in wanted)}
    known = {tuple(item.test.split("::")[-2:]): item for item in read_tests(texts).values()}
    for now in members:
        found = (known.get((base, now.name)) for base in above[now.test])
        if (item := next(filter(None, found), None)) is not None:
            yield item, now


def _count_kept(
    old: Collection[ComparedTest], new: Collection[ComparedTest], others: Collection[str]
) -> Counter[str]:
    """Return how many more times each check is made now, also by helpers that other files call."""
    helpers = {item.name for item in (*old, *new) if item.is_helper}
    called = {name for name in helpers if any(f"{name}(" in text for text in others)}
    kept = Counter(_list_texts(new, called))
    kept.subtract(_list_texts(old, called))
    return kept


def _list_texts(tests: Collection[ComparedTest], called: Collection[str]) -> Iterator[str]:
    """Yield the texts of unconditional checks, and of all checks with the prefix of `_name_any`.

    Helpers count if a test uses them, or if they are in `called`, which other files call.
    """
    used = frozenset(called).union(*(item.names for item in tests))
    for item in tests:
        if item.name in used or not item.is_helper:
            yield from (check.text for check in _list_whole(item))
            yield from (_name_any(check) for check in item.checks if not item.skip)


def _name_any(check: Check) -> str:
    """Return the text by which a check is counted if it may be conditional."""
    return f"if {check.text}"


def _list_whole(item: ComparedTest) -> list[Check]:
    """Return the unconditional checks of a test, none of a skipped test."""
    if item.skip:
        return []
    return [i for i in item.checks if not (i.conditions or i.skip)]


def _is_replaced(
    item: ComparedTest,
    others: Collection[ComparedTest],
    removed_names: Collection[str],
    kept: Mapping[str, int],
) -> bool:
    """Return whether other tests have taken over a test's checks, or its tested code is gone."""
    classes = item.test.split("::")[1:-1]
    only_measures = "benchmark" in item.names and not item.checks
    if (
        item.is_helper
        or only_measures
        or not {*item.names, *item.values, *classes}.isdisjoint(removed_names)
        or any(name in item.test for name in map(_write_as_name, removed_names) if "_" in name)
    ):
        return True
    stand = (min(kept.get(i.text, 0), kept.get(_name_any(i), 0)) >= 0 for i in item.checks)
    if item.checks and all(stand):
        return True
    return is_called_by(item, [other for other in others if item.values <= other.values])


def _stands_in(item: ComparedTest, texts: Mapping[str, str]) -> bool:
    """Return whether another file has the same test."""
    having = {path: text for path, text in texts.items() if f"def {item.name}(" in text}
    return any(is_same(item, other) for other in read_tests(having).values())


def _write_as_name(text: str) -> str:
    """Return a name or text in the form of a test's name: lower-case words joined with `_`."""
    return "_".join(re.findall(r"[a-z0-9]+", text.lower()))


def _find_rewritten(
    item: ComparedTest, called: set[str], room: dict[str, int], new: Mapping[str, ComparedTest]
) -> ComparedTest | None:
    """Return a new test that calls the same code, with as many checks that are as strong.

    `room` has the number of checks of each new test that no removed test has claimed yet; this
    function subtracts those that it claims.
    """
    strongest = max((check.strength for check in item.checks), default=Strength.WHOLE)
    for test, left in room.items():
        checks = [i for i in _list_whole(new[test]) if i.strength >= strongest]
        if called and called <= new[test].names and 0 < len(item.checks) <= min(left, len(checks)):
            room[test] -= len(item.checks)
            return new[test]
    return None
