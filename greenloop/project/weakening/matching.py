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

from greenloop.project.weakening.checks import Check, Strength
from greenloop.project.weakening.tests import ComparedTest, read_tests
from greenloop.syntax.parse import parse_or_empty

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
    """One way in which a test tells less; `line` is that of the test now, 0 where it is gone."""

    test: str
    kind: Kind
    before: str = ""
    after: str = ""
    line: int = 0

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
    before: Mapping[str, str], after: Mapping[str, str], removed_names: Collection[str] = ()
) -> list[WeakenedTest]:
    """Return how the tests of `after` tell less than those of `before`; both map paths to texts.

    `removed_names` are definitions that the change removes from the code: tests of these may go.
    """
    old, new = read_tests(before), read_tests(after)
    added = {test: item for test, item in new.items() if test not in old}
    unfolded = [item for item in new.values() if old.get(item.test) != item]
    found: list[WeakenedTest] = []
    for test, item in old.items():
        now = new.get(test) or _find_moved(item, added)
        if now is not None:
            added.pop(now.test, None)
            found.extend(_compare(item, now))
        elif not item.is_helper and not _is_replaced(item, unfolded, removed_names):
            found.append(WeakenedTest(test, "removed", item.checks[0].text if item.checks else ""))
    return found


def find_removed_names(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the functions, classes and constants that files of code defined and no file does now."""
    return frozenset(_list_definitions(before) - _list_definitions(after))


def _list_definitions(texts: Mapping[str, str]) -> set[str]:
    nodes = [node for text in texts.values() for node in ast.walk(parse_or_empty(text))]
    defined = {
        node.name
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    assigned = (node.targets for node in nodes if isinstance(node, ast.Assign))
    return defined | {t.id for targets in assigned for t in targets if isinstance(t, ast.Name)}


def _find_moved(item: ComparedTest, added: Mapping[str, ComparedTest]) -> ComparedTest | None:
    """Return the added test that has the same body or name in another place."""
    alike = [other for other in added.values() if other.is_helper == item.is_helper]
    same = [other for other in alike if other.body == item.body]
    same += [other for other in alike if other.name == item.name]
    return same[0] if same else None


def _is_replaced(
    item: ComparedTest, others: Collection[ComparedTest], removed_names: Collection[str]
) -> bool:
    """Return whether what a test asked is asked by another one now, or cannot be asked any more."""
    if not item.names.isdisjoint(removed_names):
        return True
    if not item.checks:
        return False
    strongest = max(check.strength for check in item.checks)
    called = _list_called(item)
    return any(
        not other.is_helper
        and item.values <= other.values
        and called <= other.names
        and any(check.strength >= strongest for check in other.checks)
        for other in others
    )


def _list_called(item: ComparedTest) -> set[str]:
    """Return the names that a test calls or reads from what it imports, without those it binds."""
    tree = ast.parse(item.body)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        ast.unparse(call).rpartition(".")[2] for call in calls if not isinstance(call, ast.Call)
    }


def _compare(old: ComparedTest, new: ComparedTest) -> Iterator[WeakenedTest]:
    """Yield how a test tells less than it did, the gravest first."""

    def build(kind: Kind, before: str = "", after: str = "", line: int = 0) -> WeakenedTest:
        return WeakenedTest(new.test, kind, before, after, line or new.line)

    if new.skip and not old.skip:
        yield build("skipped", after=new.skip, before=f"def {old.name}")
    if mocked := (new.mocked - old.mocked) & _list_called(old):
        yield build("mocked", before=", ".join(sorted(mocked)), after="a replacement")
    yield from (build(*found) for found in _compare_checks(old, new))
    if lost := _find_lost_cases(old, new):
        yield build("fewer checks", before=f"case {lost}")


def _compare_checks(old: ComparedTest, new: ComparedTest) -> Iterator[tuple[Kind, str, str, int]]:
    """Yield what became of each check that does not stand any more as it stood."""
    left = list(new.checks)
    changed: list[Check] = []
    for check in old.checks:
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
        elif not _is_held(check, new):
            yield "fewer checks", check.text, "", 0


def _compare_places(old: Check, new: Check) -> Iterator[tuple[Kind, str, str, int]]:
    if new.is_swallowed and not old.is_swallowed:
        yield "swallowed", old.text, f"{new.text} where its failure is caught", new.line
    elif new.is_conditional and not old.is_conditional:
        yield "conditional", old.text, f"{new.text} under `if`", new.line


def _find_successor(check: Check, left: Collection[Check]) -> Check | None:
    """Return the new check that stands for an old one: of the same subject, else as strong."""
    same = [item for item in left if item.subject == check.subject]
    alike = same or [item for item in left if item.strength >= check.strength]
    return max(alike, key=lambda item: item.strength, default=None)


def _compare_strength(
    old: Check, new: Check, test: ComparedTest
) -> Iterator[tuple[Kind, str, str, int]]:
    yield from _compare_places(old, new)
    if new.strength < old.strength and not _is_held(old, test):
        yield "looser", old.text, new.text, new.line
    elif _is_other_value(old, new) and not _list_constants(old.text) <= test.values:
        yield "expectation", old.text, new.text, new.line


def _is_other_value(old: Check, new: Check) -> bool:
    return old.subject == new.subject and old.strength == Strength.WHOLE == new.strength


def _is_held(check: Check, test: ComparedTest) -> bool:
    """Return whether the values of a check stand in stronger checks or cases of a test."""
    strong = [item.text for item in test.checks if item.strength >= check.strength]
    there = set[str]().union(*map(_list_constants, (*strong, *test.cases)))
    values = _list_constants(check.text)
    return bool(values and strong) and values <= there


def _list_constants(text: str) -> set[str]:
    nodes = ast.walk(ast.parse(_as_expression(text)))
    return {repr(node.value) for node in nodes if isinstance(node, ast.Constant)}


def _as_expression(text: str) -> str:
    """Return a check's text as an expression: a `with` item may name its target."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return text.rpartition(" as ")[0]
    return text


def _find_lost_cases(old: ComparedTest, new: ComparedTest) -> str:
    """Return a case of `parametrize` that no case replaces; '' where there are as many."""
    lost = list((Counter(old.cases) - Counter(new.cases)).elements())
    gained = (Counter(new.cases) - Counter(old.cases)).total()
    held = [case for case in lost if not _list_constants(case) <= new.values]
    return held[0] if new.cases and len(held) > gained else ""
