"""The result of one test run."""

from typing import Final, Literal

from greenloop.records.base import Record

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
# Outcomes of tests that do not run, or that are marked as expected to fail.
MARKED_OUTCOMES: Final = ("skipped", "xfailed", "xpassed")
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
Phase = Literal["collect", "setup", "call", "teardown"]


class Frame(Record):
    """One line of a traceback, in a file of the run."""

    file: str
    line: int
    function: str
    text: str


class Assertion(Record):
    """The comparison that an assertion failed on, with both values as truncated text."""

    operator: str
    left: str
    right: str


class Failure(Record):
    """Why one test (or the collection of one file) failed. `output` is what it printed, truncated.

    A test that was running at the time limit has the exception `Timeout`; its frames show where.
    """

    test: str
    phase: Phase
    exception: str
    message: str
    frames: tuple[Frame, ...] = ()
    output: str = ""
    assertion: Assertion | None = None


class TestOutcome(Record):
    """The result of one test; `id` is pytest's node id, `duration_s` in seconds over all phases.

    `skipped_by` is the file whose line called for a skip or xfail, '' where none did.
    """

    __test__ = False

    id: str
    outcome: Outcome
    duration_s: float = 0.0
    skipped_by: str = ""


class Expectation(Record):
    """The tests that a run must report: exactly `ids`, of which `tolerated` may skip or xfail.

    They come from a run on the stub, so that the code under test cannot change them. Of the cases
    of a parametrized test only the number is compared: their names may hold values of the code.
    """

    ids: frozenset[str]
    tolerated: frozenset[str] = frozenset()


class TestRun(Record):
    """One test run. Only `passed` says whether it was green.

    `ending` says how the process ended, `missing` and `unexpected` how the reported tests differ
    from the `Expectation`, `failures` why tests failed (collection included), `limits_hit` which
    limits were reached (measured by the host, or named in a failure). `cpu_s` is the elapsed time
    if the CPU time is not known.
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
    cpu_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether all expected tests were reported and passed."""
        return (
            self.ending == "finished"
            and self.exit_status == 0
            and not (self.failures or self.missing or self.unexpected)
            and any(test.outcome == "passed" for test in self.tests)
            and all(self.counts_as_passed(test) for test in self.tests)
        )

    def counts_as_passed(self, test: TestOutcome) -> bool:
        """Whether a test passed, or skips or xfails with any code (`tolerated`)."""
        return test.outcome == "passed" or (
            test.outcome in MARKED_OUTCOMES and test.id in self.tolerated
        )

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Return outcomes by test id."""
        return {test.id: test.outcome for test in self.tests}

    @property
    def failing_tests(self) -> frozenset[str]:
        """Return ids of tests that did not pass or were not reported."""
        wrong = {test.id for test in self.tests if not self.counts_as_passed(test)}
        return frozenset(wrong | set(self.missing) | {failure.test for failure in self.failures})

    @property
    def passed_count(self) -> int:
        return sum(test.outcome == "passed" for test in self.tests)

    @property
    def failed_count(self) -> int:
        counted = (item for item in self.tests if not self.counts_as_passed(item))
        return sum(item.outcome in ("failed", "xpassed") for item in counted)

    @property
    def error_count(self) -> int:
        """Count tests in error, collection errors, and expected tests that were not reported."""
        collected = sum(failure.phase == "collect" for failure in self.failures)
        errors = sum(test.outcome == "error" for test in self.tests)
        return errors + collected + len(self.missing)

    def __str__(self) -> str:
        """Return counts, then each failure, for models and users."""
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
