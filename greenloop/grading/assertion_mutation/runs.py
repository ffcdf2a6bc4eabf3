"""One run of the tests with some assertions changed, and what it says of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.grading.assertion_mutation.canaries import sentinels
from greenloop.grading.assertion_mutation.candidates import ControlledFile, Edit
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.syntax.source import Splice
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import function_name

Splices = Callable[[Edit], tuple[Splice, ...]]


@dataclass(frozen=True)
class Place:
    """An edit and the file that it is in."""

    file: str
    edit: Edit


@dataclass(frozen=True)
class Edited:
    """A run with the edits at `places`. `sentinels` are ids that must not pass."""

    places: tuple[Place, ...]
    run: TestRun
    sentinels: tuple[str, ...]

    @property
    def usable(self) -> bool:
        """Whether each test was come to: a file that does not collect tells nothing of its tests.

        Nor does a run that pytest broke off, as it does where a value cannot be shown.
        """
        run = self.run
        collected = not any(item.phase == "collect" for item in run.failures)
        whole = run.ending == "finished" and run.exit_status in (0, 1) and not run.missing
        return whole and collected and bool(run.tests)


def spliced(edit: Edit) -> tuple[Splice, ...]:
    """The edit's own change."""
    return edit.change.splices


@dataclass(frozen=True)
class Controlled:
    """The module, its tests, and the first run: what edits are held against."""

    box: Sandbox
    code: str
    module: str
    tests: Sequence[TestFile]
    files: Mapping[str, ControlledFile]
    before: TestRun
    cases: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cases.update(by_function(self.before))

    def run(
        self, places: Sequence[Place], changes: Splices = spliced, *, watched_over: bool = False
    ) -> Edited:
        """The tests once more with these edits; `watched_over`: with sentinels in each file."""
        files: list[TestFile] = []
        watched: list[str] = []
        for item in self.tests:
            code = item.code
            if item.name in self.files:
                mine = [place.edit for place in places if place.file == item.name]
                parts = [splice for edit in mine for splice in changes(edit)]
                code = self.files[item.name].text.spliced(parts)
                if watched_over:
                    code, names = sentinels(code, self.module)
                    watched += [f"{item.name}::{name}" for name in names]
            files.append(TestFile(item.name, code, item.locked))
        run = self.box.run_tests(self.code, files, module=self.module, brief=True)
        return Edited(tuple(places), run, tuple(watched))

    def green(self, edited: Edited, place: Place) -> list[str] | None:
        """Ids of the test's cases that passed and still pass; None where the run does not tell."""
        key = (place.file, place.edit.test)
        now = by_function(edited.run).get(key, [])
        old = self.cases.get(key, [])
        if not edited.usable or len(now) != len(old):
            return None
        first, again = self.before.outcomes, edited.run.outcomes
        pairs = zip(old, now if place.edit.change.renames else old, strict=True)
        return [a for a, b in pairs if first[a] == "passed" and again.get(b) == "passed"]


def by_function(run: TestRun) -> dict[tuple[str, str], list[str]]:
    """A run's ids by file and test function, in the order of the run."""
    found: dict[tuple[str, str], list[str]] = {}
    for test in run.tests:
        found.setdefault((test.id.partition("::")[0], function_name(test.id)), []).append(test.id)
    return found


def passed_functions(run: TestRun) -> list[tuple[str, str]]:
    """(file, function) of the tests that passed at least once."""
    outcome = run.outcomes
    return [
        key
        for key, ids in by_function(run).items()
        if any(outcome[item] == "passed" for item in ids)
    ]


def spread(edits: Sequence[Edit], most: int) -> list[Edit]:
    """At most so many, the last and the first among them: the last says that all was come by."""
    if len(edits) <= most:
        return list(reversed(edits))
    step = (len(edits) - 1) / (most - 1)
    return [edits[round(number * step)] for number in reversed(range(most))]


def read(tests: Iterable[TestFile], module: str) -> dict[str, ControlledFile]:
    """The test files that parse, by name; a conftest has no tests."""
    found: dict[str, ControlledFile] = {}
    for item in tests:
        if item.name == "conftest.py":
            continue
        try:
            found[item.name] = ControlledFile(item.code, module)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return found
