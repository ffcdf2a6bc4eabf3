"""What one run of the tests showed."""

from __future__ import annotations

from typing import Literal

from greenloop.records.base import Record

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Ending = Literal[
    "finished",
    "timeout",
    "cpu",
    "memory",
    "processes",
    "disk",
    "output",
    "crashed",
    "garbled",
    "interrupted",
]
LimitName = Literal[
    "wall time",
    "cpu",
    "memory",
    "total memory",
    "processes",
    "disk",
    "inodes",
    "shared memory",
    "open files",
    "file size",
    "output",
]
ProcessMode = Literal["shared", "split"]
Phase = Literal["collect", "setup", "call", "teardown"]


class Frame(Record):
    """One line of a traceback, in a file of the run."""

    file: str
    line: int
    function: str
    text: str


class Assertion(Record):
    """The comparison that an assertion failed on: both values as short text, cut."""

    operator: str
    left: str
    right: str


class Failure(Record):
    """Why one test (or the collection of one file) failed. `output` is what it printed, cut.

    A test that was still running when time was up has the exception `Timeout`, and as frames the
    place where it was then.
    """

    test: str
    phase: Phase
    exception: str
    message: str
    frames: tuple[Frame, ...] = ()
    output: str = ""
    assertion: Assertion | None = None


class TestOutcome(Record):
    """One test's result; `id` is pytest's node id, `duration_s` in seconds over all phases."""

    __test__ = False

    id: str
    outcome: Outcome
    duration_s: float = 0.0


class Expectation(Record):
    """What a run must report to count: exactly `ids`; of these, `tolerated` may skip or xfail.

    Made from a run on the stub, so that the code under test has no say in it.
    """

    ids: frozenset[str]
    tolerated: frozenset[str] = frozenset()


class TestRun(Record):
    """One test run. `passed` is the only way to ask whether it was green.

    `ending` tells how the process came to its end, `missing` and `unexpected` what was reported
    otherwise than the `Expectation` said, `failures` why tests failed (collection included),
    `limits_hit` which limits were reached (seen from outside, or told by a failure's own text).
    `form`: tests and code in one process, or split over two; then `own_equality` names the tests
    whose outcome rests on operators that the code defines itself. `not_split` says why a run that
    was to be split was not. `notes` say what of a project's own configuration was not used.
    """

    __test__ = False

    ending: Ending
    detail: str = ""
    exit_status: int | None = None
    tests: tuple[TestOutcome, ...] = ()
    failures: tuple[Failure, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    limits_hit: tuple[LimitName, ...] = ()
    tolerated: frozenset[str] = frozenset()
    output: str = ""
    duration_s: float = 0.0
    form: ProcessMode = "shared"
    own_equality: tuple[str, ...] = ()
    not_split: str = ""
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything that had to be reported was reported, and all of it passed."""
        return (
            self.ending == "finished"
            and self.exit_status == 0
            and not (self.failures or self.missing or self.unexpected)
            and any(test.outcome == "passed" for test in self.tests)
            and all(self.counts_as_passed(test) for test in self.tests)
        )

    def counts_as_passed(self, test: TestOutcome) -> bool:
        """Whether one test stands for the code: it passed, or skips whatever the code is."""
        return test.outcome == "passed" or (
            test.outcome in ("skipped", "xfailed") and test.id in self.tolerated
        )

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Each test's outcome by its id."""
        return {test.id: test.outcome for test in self.tests}

    @property
    def failing_tests(self) -> frozenset[str]:
        """Ids of the tests that did not pass, those that were never reported included."""
        wrong = {test.id for test in self.tests if not self.counts_as_passed(test)}
        return frozenset(wrong | set(self.missing) | {failure.test for failure in self.failures})

    @property
    def passed_count(self) -> int:
        return sum(test.outcome == "passed" for test in self.tests)

    @property
    def failed_count(self) -> int:
        return sum(test.outcome in ("failed", "xpassed") for test in self.tests)

    @property
    def error_count(self) -> int:
        """Tests in error, collection errors, and tests that were expected but never reported."""
        collected = sum(failure.phase == "collect" for failure in self.failures)
        errors = sum(test.outcome == "error" for test in self.tests)
        return errors + collected + len(self.missing)

    def __str__(self) -> str:
        """The run as a model or a person reads it: counts, then each failure."""
        head = (
            f"{'PASSED' if self.passed else 'NOT PASSED'}: {self.passed_count} passed, "
            f"{self.failed_count} failed, {self.error_count} errors"
        )
        if self.ending != "finished":
            head += f" ({self.ending}: {self.detail})"
        elif self.detail:
            head += f" ({self.detail})"
        blocks = [f"{item.test}: {item.exception}: {item.message}" for item in self.failures]
        return "\n\n".join([head, *blocks])
