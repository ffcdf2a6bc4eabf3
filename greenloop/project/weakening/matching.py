"""Comparison of a project's tests before and after a change, without running them.

A test that was renamed, moved, parametrized, merged into another one, put into a base class, or removed with
what it tested is not weaker. What counts is whether its checks still stand somewhere, and say as much.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from greenloop.project.weakening.checks import Check, list_names
from greenloop.project.weakening.strength import EXPECTING, Strength
from greenloop.project.weakening.tests import ComparedTest, list_patches, read_tests
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty

_MIN_RECOGNIZED = 4  # characters of a text that names something
Kind = Literal[
    "removed",
    "skipped",
    "conditional",
    "swallowed",
    "mocked",
    "fewer checks",
    "looser",
    "expectation",
]
_SAYS: Mapping[Kind, str] = {
    "removed": "was removed",
    "skipped": "may be skipped now",
    "conditional": "checks only under a condition now",
    "swallowed": "hides its own failure now",
    "mocked": "replaces what it tests now",
    "fewer checks": "checks less than before",
    "looser": "asserts less than before",
    "expectation": "expects another value than before",
}


@dataclass(frozen=True)
class WeakenedTest:
    """One way in which a test tells less; `line` is that of the test now, 0 where it is gone.

    `was` is the test before; with `is_replaced` a new or changed test calls what it called.
    """

    test: str
    kind: Kind
    before: str = ""
    after: str = ""
    line: int = 0
    was: str = ""
    is_replaced: bool = False

    @property
    def says(self) -> str:
        """The finding as one sentence, with the line before and after."""
        path, _, name = self.test.partition("::")
        place = f"{path}:{self.line}" if self.line else path
        sentence = f"{place}: {name} {_SAYS[self.kind]}"
        if not self.before:
            return sentence
        return f"{sentence}: `{_shorten(self.before)}`" + (
            f" is now `{_shorten(self.after)}`" if self.after else " is gone"
        )


def _shorten(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def find_weakened_tests(
    before: Mapping[str, str],
    after: Mapping[str, str],
    removed_names: Collection[str] = (),
    changed_names: Collection[str] = (),
) -> list[WeakenedTest]:
    """Return how the tests of `after` tell less than those of `before`; both map paths to texts.

    `removed_names` are definitions that the change removes from the code: tests of these may go.
    `changed_names` are those that it changes: a test of these that replaces them tells nothing.
    """
    old, new = read_tests(before), read_tests(after)
    added = {test: item for test, item in new.items() if test not in old}
    unfolded = [item for item in new.values() if not _is_same(item, old.get(item.test))]
    found: list[WeakenedTest] = []
    kept = Counter(_list_texts(new.values()))
    kept.subtract(_list_texts(old.values()))
    gone = {
        path: _add_helpers(text, after.get(path, ""), removed_names)
        for path, text in before.items()
    }
    for test, item in old.items():
        now = new.get(test) or _find_moved(item, added)
        if now is not None:
            added.pop(now.test, None)
            found.extend(_compare(item, now, kept, removed_names))
        elif not item.is_helper and not _is_replaced(item, unfolded, gone[item.path], kept):
            first = item.checks[0].shown if item.checks else ""
            again = _is_called_by(item, unfolded)
            found.append(WeakenedTest(test, "removed", first, was=test, is_replaced=again))
    for item in unfolded:
        if mocked := item.mocked & list_called(item) & {*changed_names}:
            names = ", ".join(sorted(mocked))
            found.append(WeakenedTest(item.test, "mocked", names, "a replacement", item.line))
    for path, text in after.items():
        known = list_patches(before.get(path, ""))
        for name, line in list_patches(text).items():
            if name in changed_names and name not in known:
                test = f"{path}::this file"
                found.append(WeakenedTest(test, "mocked", name, "a replacement", line))
    return list(dict.fromkeys(found))


def _is_same(item: ComparedTest, other: ComparedTest | None) -> bool:
    """Return whether two tests differ at most in where they stand."""
    told = ((i.body, i.cases, i.skip) for i in (item, other) if i is not None)
    return len(set(told)) == 1 and other is not None


def _list_texts(tests: Collection[ComparedTest]) -> Iterator[str]:
    """Yield the checks that are made whenever their test runs; those of helpers that are called."""
    used = frozenset[str]().union(*(item.names for item in tests))
    for item in tests:
        if not item.skip and (item.name in used or not item.is_helper):
            whole = (i for i in item.checks if not i.is_conditional and not i.is_swallowed)
            yield from (check.text for check in whole)


def find_removed_names(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the functions, classes, constants, arguments (`name=`) and texts that code compared with, which
    it had and no file has now.
    """
    gone = _list_definitions(before) - _list_definitions(after)
    return frozenset(gone | (_list_recognized(before) - _list_literals(after)))


def _list_recognized(texts: Mapping[str, str]) -> set[str]:
    """Return the texts that code compares something with, as it does with the name of an option."""
    nodes = (node for text in texts.values() for node in ast.walk(parse_or_empty(text)))
    sides = (i for n in nodes if isinstance(n, ast.Compare) for i in (n.left, *n.comparators))
    return {name for side in sides for name in _name_text(side)}


def _list_literals(texts: Mapping[str, str]) -> set[str]:
    nodes = (node for text in texts.values() for node in ast.walk(parse_or_empty(text)))
    return {name for node in nodes for name in _name_text(node)}


def _name_text(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if len(text) >= _MIN_RECOGNIZED:
            yield repr(text)


def find_changed_names(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the functions that files of code define now, and did not define so before."""
    return frozenset(name for name, _ in _list_functions(after) - _list_functions(before))


def _list_functions(texts: Mapping[str, str]) -> set[tuple[str, str]]:
    nodes = (node for text in texts.values() for node in _iter_functions(text))
    return {(node.name, ast.dump(node)) for node in nodes}


def _list_definitions(texts: Mapping[str, str]) -> set[str]:
    nodes = [node for text in texts.values() for node in ast.walk(parse_or_empty(text))]
    defined = {
        node.name
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    assigned = (node.targets for node in nodes if isinstance(node, ast.Assign))
    defined |= {f"{node.arg}=" for node in nodes if isinstance(node, ast.arg)}
    return defined | {t.id for targets in assigned for t in targets if isinstance(t, ast.Name)}


def _add_helpers(before: str, after: str, removed_names: Collection[str]) -> set[str]:
    """Return removed names of the code, and those of helpers and fixtures that a file of tests had for them."""
    defined = {node.name for node in _iter_functions(after)}
    helpers = [node for node in _iter_functions(before) if node.name not in defined]
    uses = [(node.name, list_names(node)) for node in helpers]
    found = set(removed_names)
    while more := {name for name, used in uses if name not in found and not used.isdisjoint(found)}:
        found |= more
    return found


def _iter_functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(parse_or_empty(text)) if isinstance(node, Function))


def _find_moved(item: ComparedTest, added: Mapping[str, ComparedTest]) -> ComparedTest | None:
    """Return the added test that has the same body or name in another place."""
    alike = [other for other in added.values() if other.is_helper == item.is_helper]
    same = [other for other in alike if other.body == item.body]
    same += [other for other in alike if other.name == item.name]
    return same[0] if same else None


def _is_replaced(
    item: ComparedTest,
    others: Collection[ComparedTest],
    removed_names: Collection[str],
    kept: Mapping[str, int],
) -> bool:
    """Return whether what a test asked is asked by another one now, or cannot be asked any more."""
    if not (item.names | item.values).isdisjoint(removed_names):
        return True
    if not item.checks:
        return False
    if all(kept.get(check.text, 0) >= 0 or _is_surpassed(check, others) for check in item.checks):
        return True
    return _is_called_by(item, [other for other in others if item.values <= other.values])


def _is_surpassed(check: Check, others: Collection[ComparedTest]) -> bool:
    """Return whether a new or changed test says more of what a check looked at, always."""
    return any(
        now.subject == check.subject and now.strength > check.strength
        for other in others
        for now in other.checks
        if not (other.skip or now.is_conditional or now.is_swallowed)
    )


def _is_called_by(item: ComparedTest, others: Collection[ComparedTest]) -> bool:
    """Return whether one of other tests calls what a test called, with a check as strong."""
    strongest = max((check.strength for check in item.checks), default=Strength.NOTHING)
    called = list_called(item) - EXPECTING
    return any(
        not other.is_helper
        and called <= other.names
        and any(check.strength >= strongest for check in other.checks)
        for other in others
    )


def list_called(item: ComparedTest) -> set[str]:
    """Return the names that a test calls."""
    calls = [node.func for node in ast.walk(ast.parse(item.body)) if isinstance(node, ast.Call)]
    return {
        ast.unparse(call).rpartition(".")[2] for call in calls if not isinstance(call, ast.Call)
    }


def _compare(
    old: ComparedTest,
    new: ComparedTest,
    kept: Mapping[str, int],
    removed_names: Collection[str],
) -> Iterator[WeakenedTest]:
    """Yield how a test tells less than it did, the gravest first."""

    def build(kind: Kind, before: str = "", after: str = "", line: int = 0) -> WeakenedTest:
        return WeakenedTest(new.test, kind, before, after, line or new.line, old.test, True)

    if new.skip and not old.skip:
        yield build("skipped", after=new.skip, before=f"def {old.name}")
    if mocked := (new.mocked - old.mocked) & list_called(old) & list_called(new):
        yield build("mocked", before=", ".join(sorted(mocked)), after="a replacement")
    asked = [i for i in old.checks if (i.names | i.values).isdisjoint(removed_names)]
    yield from (build(*found) for found in _compare_checks(asked, new, kept))
    yield from (build(*found) for found in _compare_cases(old, new))


_Found = tuple[Kind, str, str, int]


def _compare_checks(
    old: Collection[Check], new: ComparedTest, kept: Mapping[str, int]
) -> Iterator[_Found]:
    """Yield what became of each check that does not stand any more as it stood."""
    left = list(new.checks)
    changed: list[Check] = []
    for check in old:
        same = next((item for item in left if item.text == check.text), None)
        if same is None:
            changed.append(check)
            continue
        left.remove(same)
        yield from _compare_places(check, same)
    for check in changed:
        now = _find_successor(check, left)
        if now is not None:
            left.remove(now)
            yield from _compare_strength(check, now, new)
        elif kept.get(check.text, 0) < 0 and not _is_held(check, new):
            yield "fewer checks", check.shown, "", 0


def _compare_places(old: Check, new: Check) -> Iterator[_Found]:
    if new.is_swallowed and not old.is_swallowed:
        yield "swallowed", old.shown, f"{new.shown} where its failure is caught", new.line
    elif new.is_conditional and not old.is_conditional:
        yield "conditional", old.shown, f"{new.shown} under a condition", new.line


def _find_successor(check: Check, left: Collection[Check]) -> Check | None:
    """Return the new check that stands for an old one: of the same subject, else of the same
    text, else as strong.
    """
    same = [item for item in left if item.subject == check.subject]
    same = same or [item for item in left if item.shown == check.shown]
    if same:
        return max(same, key=lambda item: item.strength)
    strong = (item for item in left if item.strength >= check.strength)
    return min(strong, key=lambda item: item.strength, default=None)


def _compare_strength(old: Check, new: Check, test: ComparedTest) -> Iterator[_Found]:
    yield from _compare_places(old, new)
    if new.strength < old.strength and not _is_held(old, test):
        yield "looser", old.shown, new.shown, new.line
    elif _is_other_value(old, new) and not old.values <= test.values:
        yield "expectation", old.shown, new.shown, new.line


def _is_other_value(old: Check, new: Check) -> bool:
    return old.subject == new.subject and Strength.PART <= old.strength == new.strength


def _is_held(check: Check, test: ComparedTest) -> bool:
    """Return whether a stronger check of a test looks at the same names and values, or its cases do."""
    cases = [_list_constants(case) for case in test.cases]
    return any(
        check.names <= other.names and check.values <= {*other.values}.union(*cases)
        for other in test.checks
        if other.strength >= check.strength
    )


def _list_constants(text: str) -> set[str]:
    nodes = ast.walk(ast.parse(text))
    return {repr(node.value) for node in nodes if isinstance(node, ast.Constant)}


def _compare_cases(old: ComparedTest, new: ComparedTest) -> Iterator[_Found]:
    """Yield a case that no case replaces, or that expects something else for the same input."""
    lost = list((Counter(old.cases) - Counter(new.cases)).elements())
    gained = list((Counter(new.cases) - Counter(old.cases)).elements())
    for case in lost:
        twin = next((item for item in gained if _has_same_input(case, item)), None)
        if twin is not None:
            yield "expectation", f"case {case}", f"case {twin}", 0
    if len(lost) > len(gained) and new.cases:
        yield "fewer checks", f"case {lost[0]}", "", 0


def _has_same_input(one: str, other: str) -> bool:
    """Return whether two cases have all values in common but the last."""
    match (ast.parse(one, mode="eval").body, ast.parse(other, mode="eval").body):
        case (ast.Tuple(elts=[*first, _]), ast.Tuple(elts=[*second, _])) if first:
            return list(map(ast.unparse, first)) == list(map(ast.unparse, second))
    return False
