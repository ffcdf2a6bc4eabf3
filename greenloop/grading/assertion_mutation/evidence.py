"""Assertion mutation: each test must fail when the values that it expects are changed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

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
from greenloop.grading.context import GradingContext
from greenloop.records import AssertionMutation, AssertionSurvivor
from greenloop.testsuite.parser import has_hooks

_MAX_MUTANTS_PER_TEST = 4  # assertions of one test that are changed, each in a run of its own


def measure(context: GradingContext) -> AssertionMutation:
    """Change expected values in the tests' text and run them: each test must fail.

    A round changes one assertion of each test; what stays green is repeated before it counts.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    deadline = time.monotonic() + context.thresholds.seconds
    runner = AssertionMutationRunner(context, parse_test_files(context.tests, context.module))
    passed = find_passed_functions(context.first_run)
    runs, skipped_count = _run_rounds(runner, _plan_rounds(runner, passed), deadline)
    results = _MutationResults(runner, [run for run in runs if run.is_usable])
    suspects = results.find_suspects()
    suspicion = find_forgeries(runner, suspects)
    results.clear_suspects([item for item in suspects if item not in suspicion.surviving])
    hooked = any(has_hooks(item.code) for item in context.tests)
    green = tuple(results.build_survivors({} if hooked else suspicion.reasons))
    reasons = (f"{item.test}, line {item.line}: {item.forged}" for item in green if item.forged)
    forged = _find_canary_forgery(runs) or next(reasons, "")
    cut_short = _describe_cutoff(runs, skipped_count)
    if forged and hooked:  # the tests may have done it themselves: no forgery of the code
        forged, cut_short = "", f"hooks of the tests change their outcomes: {forged}"
    sensitive = [key for key in passed if results.is_sensitive(key)]
    share = len(sensitive) / len(passed) if passed else 0.0
    is_enough = bool(sensitive) and share >= context.thresholds.assertion_mutation
    return AssertionMutation(
        reached=is_enough and not (green or forged or cut_short),
        total=len(passed),
        controlled=len(sensitive),
        edits=sum(len(run.mutants) for run in runs if run.is_usable),
        uncontrolled=tuple("::".join(key) for key in passed if results.is_unmeasured(key)),
        green=green,
        forged=forged,
        cut_short=cut_short,
    )


def _plan_rounds(
    runner: AssertionMutationRunner, passed: list[tuple[str, str]]
) -> list[list[LocatedMutant]]:
    """Return the mutants that run together: one of each test; those in shared helpers come last."""
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
    """Run the rounds until the deadline, the first in any case; return how many were skipped, too.

    A round that one mutant ends early (its value cannot be shown, or it never ends) is halved.
    """
    runs: list[MutatedRun] = []
    waiting = deque(rounds)
    while waiting and (not runs or time.monotonic() < deadline):
        mutants = waiting.popleft()
        run = runner.run(mutants, with_canaries=not any(item.is_usable for item in runs))
        runs.append(run)
        if not run.is_usable and len(mutants) > 1:
            half = len(mutants) // 2
            waiting.extend((mutants[:half], mutants[half:]))
    return runs, len(waiting)


class _MutationResults:
    """What the usable runs show of each test."""

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
        """Return assertions that are certainly executed, and stayed green."""
        return [
            p
            for p, green in self._surviving_cases.items()
            if p.mutant.certainty is Certainty.CERTAIN and green
        ]

    def clear_suspects(self, mutants: list[LocatedMutant]) -> None:
        """Drop suspects that were green only because of what other changed tests left behind."""
        self._surviving_cases |= {place: [] for place in mutants}

    def build_survivors(self, forgeries: Mapping[LocatedMutant, str]) -> list[AssertionSurvivor]:
        """Return assertions that check nothing: certainly executed and green, or all of a test's loops."""
        found: list[AssertionSurvivor] = []
        for key, mutants in self._mutants_by_test.items():
            sure = [
                p
                for p in mutants
                if p.mutant.certainty is Certainty.CERTAIN and self._surviving_cases[p]
            ]
            likely = [p for p in mutants if p.mutant.certainty is not Certainty.MAYBE]
            if not sure and self._has_no_killed_mutant(key) and likely:
                sure = likely[:1]
            found += [
                _build_survivor(p.mutant, self._surviving_cases[p][0], forgeries.get(p, ""))
                for p in sure
            ]
        return found

    def is_sensitive(self, key: tuple[str, str]) -> bool:
        """Whether a test failed by a mutant, and by each that is certainly executed."""
        mutants = self._mutants_by_test.get(key, [])
        green = any(
            self._surviving_cases[p] for p in mutants if p.mutant.certainty is Certainty.CERTAIN
        )
        return bool(mutants) and not green and not self._has_no_killed_mutant(key)

    def is_unmeasured(self, key: tuple[str, str]) -> bool:
        """Whether there is no mutant, or only some that may never be executed."""
        mutants = self._mutants_by_test.get(key, [])
        only_maybe = all(place.mutant.certainty is Certainty.MAYBE for place in mutants)
        return not mutants or (only_maybe and self._has_no_killed_mutant(key))

    def _has_no_killed_mutant(self, key: tuple[str, str]) -> bool:
        return all(self._surviving_cases[place] for place in self._mutants_by_test[key])


def _build_survivor(mutant: AssertionMutant, test: str, forged: str) -> AssertionSurvivor:
    return AssertionSurvivor(
        test=test, line=mutant.line, change=mutant.change.description, forged=forged
    )


def _find_canary_forgery(runs: list[MutatedRun]) -> str:
    """Return why the verdict is not pytest's: a canary passed, or was not reported."""
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
    """Return how far the runs came; '' where they came to their end."""
    if skipped_count:
        return f"out of time after {len(runs)} of {len(runs) + skipped_count} runs"
    late = [item for item in runs if item.run.ending == "timeout" and len(item.mutants) == 1]
    if late:
        return f"out of time in {len(late)} of {len(runs)} runs: {late[0].run.detail}"
    return "" if any(run.is_usable for run in runs) else "no run came to its end"
