"""Assertion mutation: each test must fail when the values that it expects are changed."""

import secrets
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from greenloop.grading.assertion_mutation.canaries import find_canary
from greenloop.grading.assertion_mutation.candidates import AssertionMutant
from greenloop.grading.assertion_mutation.certainty import Certainty
from greenloop.grading.assertion_mutation.forgery import find_forgeries
from greenloop.grading.assertion_mutation.runs import AssertionMutationRunner, MutatedRun
from greenloop.grading.context import GradingContext, measure_cost
from greenloop.records import AssertionMutation, AssertionSurvivor
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks

_MAX_CONCURRENT, _MAX_HUNG = 2, 3  # runs at a time; runs in which a test may hang
_NO_TEXT = "no passing test is written in the test files: they inherit or generate their tests"
_FILE_READERS = ("__file__", "inspect", "linecache", "traceback")


def measure(context: GradingContext) -> AssertionMutation | str:
    """Change expected values in the tests' text and run them: each test must fail.

    A run changes one assertion of each test: first the last one, which shows that all assertions
    were executed; then one to another test's expected value, or else the first one. A survivor is
    run again before it counts. Raises SandboxError: the sandbox cannot run anything.
    """
    if not any(parse_or_none(item.code) for item in context.tests):
        return "the tests cannot be parsed by the Python of greenloop"
    runner = AssertionMutationRunner(context)
    runs, skipped_count = _run_rounds(runner, context.thresholds.seconds)
    hooked = any(has_hooks(item.code) for item in context.tests)
    results, accused = _find_results(runner, [run for run in runs if not run.is_control])
    accused = {} if hooked else accused
    green = tuple(item for found in results.values() for item in found.build_survivors(accused))
    reasons = (f"{item.test}, line {item.line}: {item.forged}" for item in green if item.forged)
    controls = [run for run in runs if run.is_control]
    forged = next(filter(None, map(_find_canary_forgery, controls)), "") or next(reasons, "")
    unsteady = next(filter(None, (_confirm_difference(runner, run) for run in controls)), "")
    cut_short = _describe_cutoff(runs, skipped_count) if results else _NO_TEXT
    if unsteady and not cut_short:
        cut_short = f"{unsteady} has another outcome when it is repeated unchanged"
    if forged and hooked:  # the tests may have done it themselves: no forgery of the code
        forged, cut_short = "", f"hooks of the tests change their outcomes: {forged}"
    sensitive = [key for key, found in results.items() if found.is_sensitive]
    share = len(sensitive) / len(results) if results else 0.0
    is_enough = bool(sensitive) and share >= context.thresholds.assertion_mutation
    return AssertionMutation(
        reached=is_enough and not (green or forged or cut_short),
        total=len(results),
        controlled=len(sensitive),
        edits=sum(len(run.mutants) for run in runs if run.is_usable and not run.is_control),
        uncontrolled=tuple("::".join(key) for key, found in results.items() if found.is_unmeasured),
        green=green,
        forged=forged,
        cut_short=cut_short,
        unsteady="" if hooked or _may_read_themselves(context.tests) else unsteady,
    )


def _may_read_themselves(tests: Sequence[TestFile]) -> bool:
    """Whether a test may see that the text of its file has changed."""
    return any(word in item.code for item in tests for word in _FILE_READERS)


def _find_canaries(runner: AssertionMutationRunner) -> list[AssertionMutant]:
    """Return a canary for each test file that can have one."""
    tests = {name: [test for at, test in runner.passed if at == name] for name in runner.files}
    found = (find_canary(file, tests[name]) for name, file in runner.files.items())
    return list(filter(None, found))


def _run_rounds(runner: AssertionMutationRunner, budget_s: float) -> tuple[list[MutatedRun], int]:
    """Run at least two rounds, up to `budget_s` seconds; return the runs and the number skipped.

    Canaries have a round of their own, with all other tests unchanged, at a random position: code
    that works only in the first run fails there. If one mutant makes a test hang, its round is
    repeated without it; this costs no budget, but is done only a few times. If pytest ends early on
    a value that it cannot show, the round is halved. Two rounds run side by side.
    """
    rounds = [(mutants, False) for mutants in runner.rounds]
    position = 1 + secrets.randbelow(len(rounds) or 1)
    rounds.insert(position, (_find_canaries(runner), True))
    runs: list[MutatedRun] = []
    waiting, spent_s = deque(rounds), 0.0
    with ThreadPoolExecutor(_MAX_CONCURRENT) as pool:
        while waiting and spent_s < budget_s and sum(bool(i.hung) for i in runs) <= _MAX_HUNG:
            next_rounds = [waiting.popleft() for _ in range(min(_MAX_CONCURRENT, len(waiting)))]
            found = pool.map(runner.run, (mutants for mutants, _ in next_rounds))
            for (mutants, is_control), run in zip(next_rounds, found, strict=True):
                runs.append(MutatedRun(tuple(mutants), run, is_control))
                spent_s += 0.0 if runs[-1].hung else measure_cost(run)
                waiting.extend((part, is_control) for part in _list_left(runner, runs[-1]))
    return runs, len(waiting)


def _list_left(runner: AssertionMutationRunner, run: MutatedRun) -> Iterator[list[AssertionMutant]]:
    """Yield new rounds of the mutants for which a run that ended early has no result."""
    mutants = list(run.mutants)
    if run.hung:
        left = [item for item in mutants if runner.find_surviving_cases(run, item) is None]
        yield from filter(None, [left])
    elif not run.is_usable and len(mutants) > 1:
        half = len(mutants) // 2
        yield from (mutants[:half], mutants[half:])


@dataclass(frozen=True)
class _TestResult:
    """The mutants of one test, each with the ids of the test's cases that stayed green."""

    survivors: Mapping[AssertionMutant, list[str]]

    @property
    def is_sensitive(self) -> bool:
        """Whether some mutant made the test fail, and so did each that is certainly executed."""
        return self._is_ever_red and not self._find_certain()

    @property
    def is_unmeasured(self) -> bool:
        """Whether there is no mutant, or only green ones that may never be executed."""
        only_maybe = all(item.certainty is Certainty.MAYBE for item in self.survivors)
        return only_maybe and not self._is_ever_red

    @property
    def _is_ever_red(self) -> bool:
        return any(not green for green in self.survivors.values())

    def _find_certain(self) -> list[AssertionMutant]:
        found = (item for item, green in self.survivors.items() if green)
        return [item for item in found if item.certainty is Certainty.CERTAIN]

    def build_survivors(
        self, accused: Mapping[AssertionMutant, str]
    ) -> Iterator[AssertionSurvivor]:
        """Yield green mutants: the certain ones, or else one in a loop if the test never failed."""
        likely = [item for item in self.survivors if item.certainty is not Certainty.MAYBE]
        for item in self._find_certain() or ([] if self._is_ever_red else likely[:1]):
            yield AssertionSurvivor(
                test=self.survivors[item][0],
                line=item.line,
                change=item.change.description,
                forged=accused.get(item, ""),
            )


def _find_results(
    runner: AssertionMutationRunner, runs: list[MutatedRun]
) -> tuple[dict[tuple[str, str], _TestResult], Mapping[AssertionMutant, str]]:
    """Return the result of each test, and the reasons why survivors are forged."""
    survivors = {
        mutant: green
        for run in runs
        for mutant in run.mutants
        if (green := runner.find_surviving_cases(run, mutant)) is not None
    }
    sure = (item for item, green in survivors.items() if green)
    suspects = [item for item in sure if item.certainty is Certainty.CERTAIN]
    again = find_forgeries(runner, suspects)
    # The others were green only because other changed tests left state behind.
    survivors |= {item: [] for item in suspects if item not in again}
    by_test: dict[tuple[str, str], dict[AssertionMutant, list[str]]] = {}
    for mutant, green in survivors.items():
        by_test.setdefault(mutant.scope.key, {})[mutant] = green
    return {key: _TestResult(by_test.get(key, {})) for key in runner.passed}, again


def _find_canary_forgery(control: MutatedRun) -> str:
    """Return why pytest's outcomes are forged: a canary passed or was not reported; else ''."""
    for file, test in (item.scope.key for item in control.mutants):
        ids = control.cases.get((file, test), [])
        if "passed" in map(control.outcomes.get, ids):
            return "a test that must fail passes, such as one that asserts 1 == 2"
        if not ids and control.is_usable and any(name == file for name, _ in control.cases):
            return "a test that must fail is never reported, such as one that asserts 1 == 2"
    return ""


def _confirm_difference(runner: AssertionMutationRunner, control: MutatedRun) -> str:
    """Return a difference that a second run confirms, as a busy machine may cause a single one."""
    if not _find_difference(runner, control):
        return ""
    return _find_difference(runner, replace(control, run=runner.run(control.mutants)))


def _find_difference(runner: AssertionMutationRunner, control: MutatedRun) -> str:
    """Return an unchanged test whose outcome differs from the first run; '' if there is none."""
    if not control.is_usable and len(control.mutants) > 1:
        return ""
    # A test that a class inherits is the same function under another name.
    changed = {
        (file, test.split("::")[-1]) for file, test in (i.scope.key for i in control.mutants)
    }
    first, again = runner.first, control.outcomes
    ids = (
        name
        for (file, test), names in first.cases.items()
        if (file, test.split("::")[-1]) not in changed
        for name in names
    )
    return next((name for name in ids if first.outcomes[name] != again.get(name)), "")


def _describe_cutoff(runs: list[MutatedRun], skipped_count: int) -> str:
    """Return how far the runs got; '' if they finished."""
    if skipped_count:
        return f"out of time after {len(runs)} of {len(runs) + skipped_count} runs"
    alone = (item for item in runs if len(item.mutants) == 1 and not item.hung)
    late = [item for item in alone if item.run.ending == "timeout"]
    if late:
        return f"out of time in {len(late)} of {len(runs)} runs: {late[0].run.detail}"
    return "" if any(run.is_usable or run.hung for run in runs) else "no run finished"
