"""Runs of the tests with some assertions changed."""

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from greenloop.grading.assertion_mutation.candidates import AssertionMutant, MutableTestFile
from greenloop.grading.context import GradingContext
from greenloop.records import TestRun
from greenloop.sandbox.limits import stretch
from greenloop.syntax.parse import PARSE_ERRORS, parse_or_empty
from greenloop.syntax.source import TextEdit
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import get_function_name

EditSelector = Callable[[AssertionMutant], tuple[TextEdit, ...]]
TestKey = tuple[str, str]  # file and function
_MAX_ANSWERS = 50  # tried in place of expected ones
# A test that fails costs more than one that passes: pytest describes the difference.
_START_S, _SLOWER = 5.0, 3.0


@dataclass(frozen=True)
class MutatedRun:
    """A run with some mutants; `is_control`: these are canaries, and other tests are unchanged."""

    mutants: tuple[AssertionMutant, ...]
    run: TestRun
    is_control: bool = False

    @cached_property
    def outcomes(self) -> Mapping[str, str]:
        return self.run.outcomes

    @cached_property
    def cases(self) -> dict[TestKey, list[str]]:
        """The ids of the run by test."""
        return group_ids_by_function(self.run)

    @property
    def is_usable(self) -> bool:
        """Whether each test was run: every file was collected and pytest came to its end.

        pytest ends early if it cannot show a value.
        """
        run = self.run
        collected = not any(item.phase == "collect" for item in run.failures)
        whole = run.ending == "finished" and run.exit_status in (0, 1) and not run.missing
        return whole and collected and bool(run.tests)

    @cached_property
    def hung(self) -> TestKey | None:
        """The mutated test that hung, if there is one.

        It may wait for a call that a failed assertion skipped, such as `event.set()`.
        """
        late = self.run.failures if self.run.ending == "timeout" else ()
        ended = [item for item in late if (item.exception, item.phase) == ("Timeout", "call")]
        keys = {_get_key(item.test) for item in ended}
        return next((i.scope.key for i in self.mutants if i.scope.key in keys), None)


def get_mutant_edits(mutant: AssertionMutant) -> tuple[TextEdit, ...]:
    """Return the edits of a mutant's own change."""
    return mutant.change.edits


class AssertionMutationRunner:
    """Runner of the tests with mutants, and the first run, with which the others are compared.

    `passed` are the tests with at least one case that passed in the first run, except those whose
    text is not in these files, because they are inherited from elsewhere or generated.
    """

    def __init__(self, context: GradingContext) -> None:
        self.context = context
        self.helpers = dict[str, MutableTestFile]()  # files that test files import
        self.files = _parse_test_files(context, self.helpers)
        self.first = MutatedRun((), context.first_run)
        outcome = self.first.outcomes.get
        self.passed = [
            key
            for key, ids in self.first.cases.items()
            if "passed" in map(outcome, ids) and self._has_text(*key)
        ]

    def _has_text(self, name: str, test: str) -> bool:
        return name not in self.files or test in self.files[name].scopes

    @cached_property
    def rounds(self) -> list[list[AssertionMutant]]:
        """The mutants that run together: one of each test, those in shared helpers last."""
        first: list[AssertionMutant] = []
        second: list[AssertionMutant] = []
        helping: list[AssertionMutant] = []
        found = (item for file in self.files.values() for item in file.answers.items())
        answers = dict(islice(found, _MAX_ANSWERS))
        for name, test in self.passed:
            file = self.files.get(name)
            mutants = file.mutants.get(test, ()) if file else ()
            if not file or not mutants:
                continue
            (helping if mutants[0].is_in_helper else first).append(mutants[-1])
            if swap := (
                file.swap_answer(test, answers) or file.swap_exception(test, self._are_related)
            ):
                second.append(swap)
            elif len(mutants) > 1:
                second.append(mutants[0])
        return list(filter(None, (first, second, helping)))

    def _are_related(self, exception: str, other: str) -> bool:
        """Whether one of two classes is a base of the other, or the code does not define both."""
        one, two = (name.rpartition(".")[2] for name in (exception, other))
        bases = {
            node.name: {item.id for item in node.bases if isinstance(item, ast.Name)}
            for node in parse_or_empty(self.context.code).body
            if isinstance(node, ast.ClassDef)
        }
        is_known = one in bases and two in bases
        return not is_known or one in _find_bases(two, bases) or two in _find_bases(one, bases)

    def run(
        self, mutants: Sequence[AssertionMutant], select_edits: EditSelector = get_mutant_edits
    ) -> TestRun:
        """Run the tests with these mutants; in a project the first run sets the time limit."""
        first = self.first.run
        longest_s = max(stretch(_START_S + _SLOWER * first.cpu_s), _SLOWER * first.duration_s)
        limit_s = longest_s if self.context.is_bounded else None
        return self.context.run_tests(tests=self.apply(mutants, select_edits), timeout_s=limit_s)

    def apply(
        self, mutants: Sequence[AssertionMutant], select_edits: EditSelector = get_mutant_edits
    ) -> list[TestFile]:
        """Return the test files with these mutants."""
        edits: dict[str, list[TextEdit]] = {}
        for mutant in mutants:
            path = mutant.path or mutant.scope.file
            edits.setdefault(path, []).extend(select_edits(mutant))
        known = {**self.helpers, **self.files}
        texts = {
            path: known[path].source.apply_edits(found) for path, found in edits.items() if found
        }
        files = [TestFile(i.name, texts.pop(i.name, i.code), i.locked) for i in self.context.tests]
        return [*files, *(TestFile(path, text) for path, text in texts.items())]

    def find_surviving_cases(self, run: MutatedRun, mutant: AssertionMutant) -> list[str] | None:
        """Return the ids of the test's cases that still pass; None if the run has no result of it.

        A run in which a test hangs has results of that test and of those before it.
        """
        if run.hung == mutant.scope.key:
            return []
        now = run.cases.get(mutant.scope.key, [])
        old = self.first.cases.get(mutant.scope.key, [])
        if not (run.is_usable or run.hung) or len(now) != len(old):
            return None
        pairs = zip(old, now if mutant.change.changes_test_id else old, strict=True)
        both = {a: (self.first.outcomes[a], run.outcomes.get(b)) for a, b in pairs}
        return [name for name, outcomes in both.items() if outcomes == ("passed", "passed")]

    def find_survivors(
        self, mutants: Sequence[AssertionMutant], select_edits: EditSelector = get_mutant_edits
    ) -> dict[AssertionMutant, list[str]]:
        """Run the tests with these mutants; return survivors with the cases that still pass."""
        run = MutatedRun(tuple(mutants), self.run(mutants, select_edits))
        found = {item: self.find_surviving_cases(run, item) for item in mutants}
        return {item: green for item, green in found.items() if green}


def group_ids_by_function(run: TestRun) -> dict[TestKey, list[str]]:
    """Return ids by file and test function, in the order of the run."""
    found: dict[TestKey, list[str]] = {}
    for test in run.tests:
        found.setdefault(_get_key(test.id), []).append(test.id)
    return found


def _get_key(test: str) -> TestKey:
    return test.partition("::")[0], get_function_name(test)


def _parse_test_files(
    context: GradingContext, helpers: dict[str, MutableTestFile]
) -> dict[str, MutableTestFile]:
    """Return the test files that can be parsed, by name, without conftest.py.

    Other test files of a project that they import are added to `helpers`.
    """

    def parse(path: str, code: str, used: Sequence[MutableTestFile] = ()) -> MutableTestFile:
        return MutableTestFile(code, context.module, path, context.code, used)

    found: dict[str, MutableTestFile] = {}
    for item in context.tests:
        if item.name == "conftest.py":
            continue
        with suppress(*PARSE_ERRORS):
            texts = context.project.list_imported_tests(item) if context.project else {}
            helpers |= {
                path: parse(path, text) for path, text in texts.items() if path not in helpers
            }
            found[item.name] = parse(item.name, item.code, [helpers[path] for path in texts])
    return found


def _find_bases(name: str, bases: Mapping[str, set[str]]) -> set[str]:
    """Return a class and its bases, as far as the module defines them."""
    return {name}.union(*(_find_bases(item, bases) for item in bases.get(name, ()) if item != name))
