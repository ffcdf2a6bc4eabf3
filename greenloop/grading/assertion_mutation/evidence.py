"""Controls: the tests with their expected values changed. Each must be red, test by test."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence

from greenloop.grading.assertion_mutation.candidates import AssertionMutant, Certainty
from greenloop.grading.assertion_mutation.forgery import find_forgeries
from greenloop.grading.assertion_mutation.runs import (
    AssertionMutationRunner,
    LocatedMutant,
    MutatedRun,
    find_passed_functions,
    parse_test_files,
    select_evenly,
)
from greenloop.records import AssertionMutation, AssertionSurvivor, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks

_MAX_MUTANTS_PER_TEST = 4  # assertions of one test that get a control, each in a run of its own


def measure_assertion_mutation(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    first_run: TestRun,
    thresholds: Thresholds,
) -> AssertionMutation:
    """The evidence, given the run `before`, which was green.

    The first run changes one assertion of each test, further ones the next; what stays green is
    tried again before anything is said of it.
    """
    controlled = AssertionMutationRunner(
        sandbox, code, module, tests, parse_test_files(tests, module), first_run
    )
    passed = find_passed_functions(first_run)
    rounds = _plan_rounds(controlled, passed)
    until = time.monotonic() + thresholds.seconds
    runs, left_out = _run_rounds(controlled, rounds, until)
    told = _MutationResults(controlled, [run for run in runs if run.is_usable])
    suspects = told.find_suspects()
    found = find_forgeries(controlled, suspects)
    told.clear_suspects([item for item in suspects if item not in found.surviving])
    hooked = any(has_hooks(item.code) for item in tests)
    green = tuple(told.build_survivors({} if hooked else found.reasons))
    told_of = (f"{item.test}, line {item.line}: {item.forged}" for item in green if item.forged)
    forged, cut_short = _find_canary_forgery(runs) or next(told_of, ""), _describe_cutoff(
        runs, left_out
    )
    if forged and hooked:  # the tests themselves may have done it: that is no forgery of the code
        forged, cut_short = "", f"hooks of the tests have a say in their verdict: {forged}"
    held = [key for key in passed if told.is_sensitive(key)]
    share = len(held) / len(passed) if passed else 0.0
    return AssertionMutation(
        reached=not (green or forged or cut_short)
        and share >= thresholds.assertion_mutation
        and bool(held),
        total=len(passed),
        controlled=len(held),
        edits=sum(len(run.mutants) for run in runs if run.is_usable),
        uncontrolled=tuple("::".join(key) for key in passed if told.is_unmeasured(key)),
        green=green,
        forged=forged,
        cut_short=cut_short,
    )


def _plan_rounds(
    runner: AssertionMutationRunner, passed: list[tuple[str, str]]
) -> list[list[LocatedMutant]]:
    """Which edits are run together: of each test one; those in helpers apart, as tests share them."""
    own: list[list[LocatedMutant]] = [[] for _ in range(_MAX_MUTANTS_PER_TEST)]
    helping: list[LocatedMutant] = []
    for file, test in passed:
        edits = runner.files[file].mutants.get(test, ()) if file in runner.files else ()
        if edits and edits[0].is_in_helper:
            helping.append(LocatedMutant(file, edits[0]))
            continue
        for number, edit in enumerate(select_evenly(edits, _MAX_MUTANTS_PER_TEST)):
            own[number].append(LocatedMutant(file, edit))
    return [own[0], *(item for item in (*own[1:], helping) if item)]


def _run_rounds(
    runner: AssertionMutationRunner, rounds: list[list[LocatedMutant]], deadline: float
) -> tuple[list[MutatedRun], int]:
    """The rounds' runs, as far as time allows, always the first; and how many were left out.

    A round that one edit breaks off (its value cannot be shown, or it never ends) is halved until
    the rest of it tells.
    """
    runs: list[MutatedRun] = []
    waiting = deque(rounds)
    while waiting and (not runs or time.monotonic() < deadline):
        places = waiting.popleft()
        run = runner.run(places, with_canaries=not any(item.is_usable for item in runs))
        runs.append(run)
        if not run.is_usable and len(places) > 1:
            half = len(places) // 2
            waiting.extend((places[:half], places[half:]))
    return runs, len(waiting)


class _MutationResults:
    """What the usable runs say of each test."""

    def __init__(self, runner: AssertionMutationRunner, runs: list[MutatedRun]) -> None:
        self._surviving_cases: dict[LocatedMutant, list[str]] = {}
        self._mutants_by_test: dict[tuple[str, str], list[LocatedMutant]] = {}
        for run in runs:
            for place in run.mutants:
                found = runner.find_surviving_cases(run, place)
                if found is not None:
                    self._surviving_cases[place] = found
                    self._mutants_by_test.setdefault((place.file, place.mutant.test), []).append(
                        place
                    )

    def find_suspects(self) -> list[LocatedMutant]:
        """Assertions that are surely come by, and stayed green."""
        return [
            p
            for p, green in self._surviving_cases.items()
            if p.mutant.certainty is Certainty.CERTAIN and green
        ]

    def clear_suspects(self, mutants: list[LocatedMutant]) -> None:
        """These were green only because of what other changed tests left behind."""
        self._surviving_cases |= {place: [] for place in mutants}

    def build_survivors(self, forgeries: Mapping[LocatedMutant, str]) -> list[AssertionSurvivor]:
        """Assertions that hold nothing: green though surely come by, or all of a test's in loops."""
        found: list[AssertionSurvivor] = []
        for key, places in self._mutants_by_test.items():
            sure = [
                p
                for p in places
                if p.mutant.certainty is Certainty.CERTAIN and self._surviving_cases[p]
            ]
            likely = [p for p in places if p.mutant.certainty is not Certainty.MAYBE]
            if not sure and self._has_no_killed_mutant(key) and likely:
                sure = likely[:1]
            found += [
                _build_survivor(p.mutant, self._surviving_cases[p][0], forgeries.get(p, ""))
                for p in sure
            ]
        return found

    def is_sensitive(self, key: tuple[str, str]) -> bool:
        """Whether a test turned red by a control, and by each that is surely come by."""
        places = self._mutants_by_test.get(key, [])
        green = any(
            self._surviving_cases[p] for p in places if p.mutant.certainty is Certainty.CERTAIN
        )
        return bool(places) and not green and not self._has_no_killed_mutant(key)

    def is_unmeasured(self, key: tuple[str, str]) -> bool:
        """Whether nothing was learned: no control, or only such as may never be come by."""
        places = self._mutants_by_test.get(key, [])
        only_maybe = all(place.mutant.certainty is Certainty.MAYBE for place in places)
        return not places or (only_maybe and self._has_no_killed_mutant(key))

    def _has_no_killed_mutant(self, key: tuple[str, str]) -> bool:
        return all(self._surviving_cases[place] for place in self._mutants_by_test[key])


def _build_survivor(mutant: AssertionMutant, test: str, forged: str) -> AssertionSurvivor:
    return AssertionSurvivor(
        test=test, line=mutant.line, change=mutant.change.description, forged=forged
    )


def _find_canary_forgery(runs: list[MutatedRun]) -> str:
    """Why the verdict is not pytest's: a test passed that cannot, or was made away with."""
    for edited in runs:
        outcomes = edited.run.outcomes
        if any(outcomes.get(name) == "passed" for name in edited.canaries):
            return "a test that must fail passes, such as one that asserts 1 == 2"
        files = {name.partition("::")[0] for name in outcomes}
        for name in edited.canaries if edited.is_usable else ():
            if name not in outcomes and name.partition("::")[0] in files:
                return "a test that must fail is never reported, such as one that asserts 1 == 2"
    return ""


def _describe_cutoff(runs: list[MutatedRun], skipped_count: int) -> str:
    """How far it came; '' where it came to its end."""
    if skipped_count:
        return f"out of time after {len(runs)} of {len(runs) + skipped_count} runs"
    late = [item for item in runs if item.run.ending == "timeout" and len(item.mutants) == 1]
    if late:
        return f"out of time in {len(late)} of {len(runs)} runs: {late[0].run.detail}"
    return "" if any(run.is_usable for run in runs) else "no run came to its end"
