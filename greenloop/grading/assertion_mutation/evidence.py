"""Controls: the tests with their expected values changed. Each must be red, test by test."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence

from greenloop.grading.assertion_mutation.candidates import Edit, Sure
from greenloop.grading.assertion_mutation.forgery import accused
from greenloop.grading.assertion_mutation.runs import (
    Controlled,
    Edited,
    Place,
    passed_functions,
    read,
    spread,
)
from greenloop.records import Controls, GreenControl, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks

_MOST = 4  # assertions of one test that get a control, each in a run of its own


def controls(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    before: TestRun,
    thresholds: Thresholds,
) -> Controls:
    """The evidence, given the run `before`, which was green.

    The first run changes one assertion of each test, further ones the next; what stays green is
    tried again before anything is said of it.
    """
    controlled = Controlled(box, code, module, tests, read(tests, module), before)
    passed = passed_functions(before)
    rounds = _rounds(controlled, passed)
    until = time.monotonic() + thresholds.seconds
    runs, left_out = _taken(controlled, rounds, until)
    told = _Told(controlled, [run for run in runs if run.usable])
    suspects = told.suspects()
    found = accused(controlled, suspects)
    told.clear([item for item in suspects if item not in found.still])
    hooked = any(has_hooks(item.code) for item in tests)
    green = tuple(told.named({} if hooked else found.why))
    told_of = (f"{item.test}, line {item.line}: {item.forged}" for item in green if item.forged)
    forged, cut_short = _sentinel_forged(runs) or next(told_of, ""), _cut_short(runs, left_out)
    if forged and hooked:  # the tests themselves may have done it: that is no forgery of the code
        forged, cut_short = "", f"hooks of the tests have a say in their verdict: {forged}"
    held = [key for key in passed if told.holds(key)]
    share = len(held) / len(passed) if passed else 0.0
    return Controls(
        reached=not (green or forged or cut_short)
        and share >= thresholds.controlled
        and bool(held),
        total=len(passed),
        controlled=len(held),
        edits=sum(len(run.places) for run in runs if run.usable),
        uncontrolled=tuple("::".join(key) for key in passed if told.silent(key)),
        green=green,
        forged=forged,
        cut_short=cut_short,
    )


def _rounds(controlled: Controlled, passed: list[tuple[str, str]]) -> list[list[Place]]:
    """Which edits are run together: of each test one; those in helpers apart, as tests share them."""
    own: list[list[Place]] = [[] for _ in range(_MOST)]
    helping: list[Place] = []
    for file, test in passed:
        edits = controlled.files[file].edits.get(test, ()) if file in controlled.files else ()
        if edits and edits[0].of_helper:
            helping.append(Place(file, edits[0]))
            continue
        for number, edit in enumerate(spread(edits, _MOST)):
            own[number].append(Place(file, edit))
    return [own[0], *(item for item in (*own[1:], helping) if item)]


def _taken(
    controlled: Controlled, rounds: list[list[Place]], until: float
) -> tuple[list[Edited], int]:
    """The rounds' runs, as far as time allows, always the first; and how many were left out.

    A round that one edit breaks off (its value cannot be shown, or it never ends) is halved until
    the rest of it tells.
    """
    runs: list[Edited] = []
    waiting = deque(rounds)
    while waiting and (not runs or time.monotonic() < until):
        places = waiting.popleft()
        run = controlled.run(places, watched_over=not any(item.usable for item in runs))
        runs.append(run)
        if not run.usable and len(places) > 1:
            half = len(places) // 2
            waiting.extend((places[:half], places[half:]))
    return runs, len(waiting)


class _Told:
    """What the usable runs say of each test."""

    def __init__(self, controlled: Controlled, runs: list[Edited]) -> None:
        self._green: dict[Place, list[str]] = {}
        self._places: dict[tuple[str, str], list[Place]] = {}
        for run in runs:
            for place in run.places:
                found = controlled.green(run, place)
                if found is not None:
                    self._green[place] = found
                    self._places.setdefault((place.file, place.edit.test), []).append(place)

    def suspects(self) -> list[Place]:
        """Assertions that are surely come by, and stayed green."""
        return [p for p, green in self._green.items() if p.edit.sure is Sure.CERTAIN and green]

    def clear(self, places: list[Place]) -> None:
        """These were green only because of what other changed tests left behind."""
        self._green |= {place: [] for place in places}

    def named(self, forgeries: Mapping[Place, str]) -> list[GreenControl]:
        """Assertions that hold nothing: green though surely come by, or all of a test's in loops."""
        found: list[GreenControl] = []
        for key, places in self._places.items():
            sure = [p for p in places if p.edit.sure is Sure.CERTAIN and self._green[p]]
            likely = [p for p in places if p.edit.sure is not Sure.MAYBE]
            if not sure and self._all_green(key) and likely:
                sure = likely[:1]
            found += [_named(p.edit, self._green[p][0], forgeries.get(p, "")) for p in sure]
        return found

    def holds(self, key: tuple[str, str]) -> bool:
        """Whether a test turned red by a control, and by each that is surely come by."""
        places = self._places.get(key, [])
        green = any(self._green[p] for p in places if p.edit.sure is Sure.CERTAIN)
        return bool(places) and not green and not self._all_green(key)

    def silent(self, key: tuple[str, str]) -> bool:
        """Whether nothing was learned: no control, or only such as may never be come by."""
        places = self._places.get(key, [])
        only_maybe = all(place.edit.sure is Sure.MAYBE for place in places)
        return not places or (only_maybe and self._all_green(key))

    def _all_green(self, key: tuple[str, str]) -> bool:
        return all(self._green[place] for place in self._places[key])


def _named(edit: Edit, test: str, forged: str) -> GreenControl:
    return GreenControl(test=test, line=edit.line, change=edit.change.said, forged=forged)


def _sentinel_forged(runs: list[Edited]) -> str:
    """Why the verdict is not pytest's: a test passed that cannot, or was made away with."""
    for edited in runs:
        outcomes = edited.run.outcomes
        if any(outcomes.get(name) == "passed" for name in edited.sentinels):
            return "a test that must fail passes, such as one that asserts 1 == 2"
        files = {name.partition("::")[0] for name in outcomes}
        for name in edited.sentinels if edited.usable else ():
            if name not in outcomes and name.partition("::")[0] in files:
                return "a test that must fail is never reported, such as one that asserts 1 == 2"
    return ""


def _cut_short(runs: list[Edited], left_out: int) -> str:
    """How far it came; '' where it came to its end."""
    if left_out:
        return f"out of time after {len(runs)} of {len(runs) + left_out} runs"
    late = [item for item in runs if item.run.ending == "timeout" and len(item.places) == 1]
    if late:
        return f"out of time in {len(late)} of {len(runs)} runs: {late[0].run.detail}"
    return "" if any(run.usable for run in runs) else "no run came to its end"
