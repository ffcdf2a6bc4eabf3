"""Runs of the tests with some assertions changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.grading.assertion_mutation.canaries import add_canaries
from greenloop.grading.assertion_mutation.candidates import AssertionMutant, MutableTestFile
from greenloop.grading.context import GradingContext
from greenloop.records import TestRun
from greenloop.syntax.edit import TextEdit
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import get_function_name

EditSelector = Callable[[AssertionMutant], tuple[TextEdit, ...]]


@dataclass(frozen=True)
class LocatedMutant:
    """A mutant and the file that it is in."""

    file: str
    mutant: AssertionMutant


@dataclass(frozen=True)
class MutatedRun:
    """A run with some mutants. `canaries` are ids that must not pass."""

    mutants: tuple[LocatedMutant, ...]
    run: TestRun
    canaries: tuple[str, ...]

    @property
    def is_usable(self) -> bool:
        """Whether each test was run: every file was collected and pytest came to its end.

        pytest ends early where a value cannot be shown.
        """
        run = self.run
        collected = not any(item.phase == "collect" for item in run.failures)
        whole = run.ending == "finished" and run.exit_status in (0, 1) and not run.missing
        return whole and collected and bool(run.tests)


def get_mutant_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    """Return the change of a mutant itself."""
    return mutant.change.edits


@dataclass(frozen=True)
class AssertionMutationRunner:
    """The module, its tests, and the first run, which mutants are compared with."""

    context: GradingContext
    files: Mapping[str, MutableTestFile]
    cases: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cases.update(group_ids_by_function(self.context.first_run))

    def run(
        self,
        mutants: Sequence[LocatedMutant],
        select_edits: EditSelector = get_mutant_edits,
        *,
        with_canaries: bool = False,
    ) -> MutatedRun:
        """Run the tests with these mutants, and with canaries in each file if `with_canaries`."""
        files: list[TestFile] = []
        canaries: list[str] = []
        for item in self.context.tests:
            code = item.code
            if item.name in self.files:
                own = [place.mutant for place in mutants if place.file == item.name]
                edits = [edit for mutant in own for edit in select_edits(mutant)]
                code = self.files[item.name].source.apply_edits(edits)
                if with_canaries:
                    code, names = add_canaries(code, self.context.module)
                    canaries += [f"{item.name}::{name}" for name in names]
            files.append(TestFile(item.name, code, item.locked))
        run = self.context.run_tests(tests=files)
        return MutatedRun(tuple(mutants), run, tuple(canaries))

    def find_surviving_cases(
        self, mutated_run: MutatedRun, mutant: LocatedMutant
    ) -> list[str] | None:
        """Return ids of the test's cases that still pass; None where the run does not show it."""
        key = (mutant.file, mutant.mutant.test)
        now = group_ids_by_function(mutated_run.run).get(key, [])
        old = self.cases.get(key, [])
        if not mutated_run.is_usable or len(now) != len(old):
            return None
        first, again = self.context.first_run.outcomes, mutated_run.run.outcomes
        pairs = zip(old, now if mutant.mutant.change.changes_test_id else old, strict=True)
        return [a for a, b in pairs if first[a] == "passed" and again.get(b) == "passed"]


def group_ids_by_function(run: TestRun) -> dict[tuple[str, str], list[str]]:
    """Return ids by file and test function, in the order of the run."""
    found: dict[tuple[str, str], list[str]] = {}
    for test in run.tests:
        found.setdefault((test.id.partition("::")[0], get_function_name(test.id)), []).append(
            test.id
        )
    return found


def find_passed_functions(run: TestRun) -> list[tuple[str, str]]:
    """Return (file, function) of the tests of which a case passed."""
    outcome = run.outcomes
    return [
        key
        for key, ids in group_ids_by_function(run).items()
        if any(outcome[item] == "passed" for item in ids)
    ]


def select_evenly(mutants: Sequence[AssertionMutant], max_mutants: int) -> list[AssertionMutant]:
    """Return at most so many, with the first and the last: the last shows that all were executed."""
    if len(mutants) <= max_mutants:
        return list(reversed(mutants))
    step = (len(mutants) - 1) / (max_mutants - 1)
    return [mutants[round(number * step)] for number in reversed(range(max_mutants))]


def parse_test_files(tests: Iterable[TestFile], module: str) -> dict[str, MutableTestFile]:
    """Return the test files that can be parsed, by name, without conftest.py."""
    found: dict[str, MutableTestFile] = {}
    for item in tests:
        if item.name == "conftest.py":
            continue
        try:
            found[item.name] = MutableTestFile(item.code, module)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return found
