"""Comparison of a test with its successor after a change: the ways in which it is weaker."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from greenloop.project.weakening.checks import Check
from greenloop.project.weakening.conditions.bounds import is_widened
from greenloop.project.weakening.conditions.narrowing import (
    is_narrowed,
    is_opposite,
    read_condition,
    read_truth,
)
from greenloop.project.weakening.conditions.strength import EXPECTING, Strength
from greenloop.project.weakening.names import list_values, list_variables
from greenloop.project.weakening.tests import ComparedTest, list_called
from greenloop.syntax.parse import parse_or_empty

Kind = Literal[
    "removed",
    "rewritten",
    "skipped",
    "conditional",
    "mocked",
    "isolated",
    "emptied",
    "detached",
    "fewer checks",
    "looser",
    "expectation",
    "exchanged",
    "data",
    "indifferent",
]
_SAYS: Mapping[Kind, str] = {
    "removed": "was removed",
    "rewritten": "was rewritten",
    "skipped": "may be skipped now",
    "conditional": "checks only under a condition now",
    "mocked": "replaces what it tests now",
    "isolated": "failed on this change, and now replaces code of the project",
    "emptied": "checks nothing now",
    "detached": "uses no function of the project now",
    "fewer checks": "checks less than before",
    "looser": "asserts less than before",
    "expectation": "expects another value than before",
    "exchanged": "asserts something else than before",
    "data": "fails with its old data and helpers",
    "indifferent": "failed on this change in its old version, and now passes with and without the change",
}


@dataclass(frozen=True)
class WeakenedTest:
    """One way in which a test is weaker; `line` is in the new version, 0 if the test is gone.

    `was` is the old test; with `is_replaced` a new or changed test calls the same code. The finding
    represents `more` others of its kind.
    """

    test: str
    kind: Kind
    before: str = ""
    after: str = ""
    line: int = 0
    was: str = ""
    is_replaced: bool = False
    more: int = 0

    @property
    def says(self) -> str:
        """The finding as one sentence, with the line before and after."""
        path, _, name = self.test.partition("::")
        place = f"{path}:{self.line}" if self.line else path
        sentence = f"{place}: {name} {_SAYS[self.kind]}"
        if not self.before:
            return sentence
        change = f" is now `{_shorten(self.after)}`" if self.after else " is gone"
        others = f", and {self.more} more like it" if self.more else ""
        return f"{sentence}: `{_shorten(self.before)}`{change}{others}"


def _shorten(text: str, most: int = 120) -> str:
    line = re.sub(r"\s*\n\s*", " ", text.strip())  # spaces within a line may be of a literal
    return line if len(line) <= most else f"{line[: most - 1]}…"


def compare_tests(
    old: ComparedTest,
    new: ComparedTest,
    kept: Mapping[str, int],
    removed_names: Collection[str],
    added: Sequence[Check] = (),
) -> Iterator[WeakenedTest]:
    """Yield the ways in which a test is weaker, the gravest first.

    `kept` has the change in the number of each check, `added` are the checks of new tests.
    """

    def build(kind: Kind, before: str = "", after: str = "", line: int = 0) -> WeakenedTest:
        return WeakenedTest(new.test, kind, before, after, line or new.line, old.owner, True)

    if (new.checks, new.skip, new.mocked) == (old.checks, old.skip, old.mocked):
        return
    if new.skip and not old.skip:
        yield build("skipped", after=new.skip, before=f"def {old.name}")
    if mocked := (new.mocked - old.mocked) & list_called(old) & list_called(new):
        yield build("mocked", before=", ".join(sorted(mocked)), after="a replacement")
    asked = [i for i in old.checks if (i.names | i.values).isdisjoint(removed_names)]
    asked = [item for item in asked if item.strength > Strength.NOTHING]
    yield from (build(*found) for found in _compare_checks(asked, new, kept, added))


_Found = tuple[Kind, str, str, int]


def _compare_checks(
    old: Collection[Check], new: ComparedTest, kept: Mapping[str, int], added: Sequence[Check]
) -> Iterator[_Found]:
    """Yield a finding for each old check that is weaker or gone."""
    left, known = list(new.checks), {check.text for check in old}
    fresh = [check for check in new.checks if check.text not in known]
    subjects = {check.subject for check in old}
    changed: list[Check] = []
    for check in old:
        same = next((item for item in left if item.text == check.text), None)
        if same is None:
            changed.append(check)
            continue
        left.remove(same)
        yield from _compare_places(check, same)
    successors = _find_successors(changed, left)
    for check, now in zip(changed, successors, strict=True):
        if now is not None:
            yield from _compare_strength(check, now, new, kept, fresh, subjects)
            continue
        others = [*fresh, *added]
        if check.bounds and check.bounds[0].of in EXPECTING:  # a block raises at most one error
            others = [item for item in others if item in left or item in added]
        is_held = _is_held(check, others) or _is_implied(check, new.checks)
        is_lost = kept.get(check.text, 0) < 0  # checks of helpers are often conditional
        is_empty = new.is_helper or not new.checks
        is_lost |= is_empty and kept.get(f"if {check.text}", 0) < 0
        if is_lost and not is_held:
            yield "fewer checks" if new.checks or new.is_helper else "emptied", check.shown, "", 0


def _compare_places(old: Check, new: Check) -> Iterator[_Found]:
    if new.skip and not old.skip:
        yield "skipped", old.shown, new.skip, new.line
    elif new.conditions > old.conditions:
        yield "conditional", old.shown, f"{new.shown} under a condition", new.line


def _find_successors(changed: Sequence[Check], left: list[Check]) -> list[Check | None]:
    """Return the successor of each check, and take it from `left`.

    It is the strongest of the same subject, or else of the same text. Only then those without one
    get one that is as strong.
    """
    found: list[Check | None] = []
    for check in changed:
        same = [item for item in left if item.subject == check.subject]
        same = same or [item for item in left if item.shown == check.shown]
        found.append(max(same, key=lambda item: item.strength, default=None))
        _take(found[-1], left)
    for number, check in enumerate(changed):
        if found[number] is None:
            strong = (item for item in left if item.strength >= check.strength)
            found[number] = min(strong, key=lambda item: item.strength, default=None)
            _take(found[number], left)
    return found


def _take(check: Check | None, left: list[Check]) -> None:
    if check is not None:
        left.remove(check)


def _compare_strength(
    old: Check,
    new: Check,
    test: ComparedTest,
    kept: Mapping[str, int],
    fresh: Collection[Check],
    known: Collection[str],
) -> Iterator[_Found]:
    """Yield how a check is weaker than the old one; `known` are the subjects of all old checks."""
    yield from _compare_places(old, new)
    is_wider = old.subject == new.subject and is_widened(old.bounds, new.bounds)
    is_wider |= is_narrowed(*map(read_condition, (old.text, new.text)))
    others = [check for check in test.checks if check.text != old.text]
    is_held = _is_held(old, fresh) or _is_implied(old, others)  # as of a check that is gone
    negates = is_opposite(old.text, new.text)
    is_same = ast.unparse(read_truth(read_condition(old.text))) == new.text
    is_same |= " or " in new.text and new.conditions < old.conditions  # `if` has become `or`
    # an assertion and its opposite cannot both pass, so neither is weaker
    is_less = new.strength < old.strength and not (negates or is_same)
    texts = (old.shown, new.shown) if old.shown != new.shown else (old.text, new.text)
    if is_wider or _is_part(old, new, others) or (is_less and not is_held):
        yield "looser", *texts, new.line
    elif negates or _is_other_value(old, new, [i for i in fresh if i.subject not in known]):
        yield "expectation", *texts, new.line
    elif old.subject != new.subject and kept.get(old.text, 0) < 0 and not is_held:
        yield "exchanged", *texts, new.line


def _is_part(old: Check, new: Check, others: Collection[Check]) -> bool:
    """Return whether only parts of a value are checked now, against fewer expected values."""
    inside = re.compile(rf"(?<![\w.]){re.escape(old.subject)}(?!\w)")
    told = [i for i in others if i.subject != old.subject and inside.search(i.subject)]
    values = frozenset[str]().union(*(item.values for item in told))
    variables = set[str]().union(*(list_variables(item.text) for item in told))
    is_known = old.values <= values and list_variables(old.text) <= variables
    has_parts = not old.text.endswith(" is None")
    return new in told and has_parts and old.strength is Strength.WHOLE and not is_known


def _is_other_value(old: Check, new: Check, fresh: Collection[Check]) -> bool:
    """Return whether another value is expected, and no check of a new subject has the old."""
    is_same = old.subject == new.subject and Strength.PART <= old.strength == new.strength
    return is_same and not any(old.values <= item.values for item in fresh)


def _is_held(check: Check, others: Collection[Check]) -> bool:
    """Return whether another check is as strong on the same names and values, or on the whole."""
    strong = [other for other in others if other.strength >= check.strength]
    return any(
        (check.names <= other.names and check.values <= other.values) or _is_whole_of(other, check)
        for other in strong
    )


def _is_whole_of(whole: Check, part: Check) -> bool:
    """Return whether a check of a whole value includes a check of the value or of an item of it."""
    if whole.strength < Strength.WHOLE or not part.subject.startswith(whole.subject):
        return False
    rest = part.subject.removeprefix(whole.subject)
    if not rest:
        return part.strength < Strength.WHOLE
    return rest[0] in "[." and "(" not in rest and part.values - _list_items(rest) <= whole.values


def _is_implied(check: Check, others: Collection[Check]) -> bool:
    """Return whether a stronger check of the value or of an item fails whenever this one does."""
    for other in others:
        rest = other.subject.removeprefix(check.subject)
        is_of_item = rest != other.subject and rest[:1] in ("", "[", ".")
        told = other.values | _list_items(rest) | {"None"}
        if is_of_item and check.strength < other.strength and check.values <= told:
            return True
    return False


def _list_items(rest: str) -> frozenset[str]:
    """Return the subscripts and attributes in an access path, such as `[0].name`, as literals."""
    keys = list_values(parse_or_empty(f"_{rest}"))
    return keys | {repr(name) for name in re.findall(r"\.(\w+)", rest)}
