"""Plan of a grade, and context of its measurements."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from greenloop.grading.collector import describe_load
from greenloop.records import Expectation, HeldOutExample, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.sandbox.job import HASH_SEED
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.sandbox.work.tests import RecordedRun
from greenloop.settings import Settings
from greenloop.testsuite import TestFile, read_conftest

ORDER_SEED = 20261  # any fixed value: a repeat must give the same verdict
_MIN_SECONDS = 10.0  # the least limit of a piece, however short the tests are
_START_SECONDS, _SUITES = 5.0, 1.5  # start of a run that records lines; test runs in a limit


@dataclass(frozen=True)
class Plan:
    """Settings of a grade. `mutants` is the maximum number of mutants (None: all, 0: none)."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    mutants: int | None = 100
    seed: int = 20261

    @classmethod
    def from_settings(cls, settings: Settings) -> "Plan":
        mutants = None if settings.mutants == "all" else settings.mutants
        return cls(thresholds=settings.thresholds, mutants=mutants)

    def bound(self, suite_s: float) -> float:
        """Return a piece's limit in CPU seconds: a few test runs, unless all mutants are wanted."""
        few_runs = max(_MIN_SECONDS, _START_SECONDS + _SUITES * suite_s)
        return (
            self.thresholds.seconds
            if self.mutants is None
            else min(few_runs, self.thresholds.seconds)
        )


def measure_cost(run: TestRun) -> float:
    """Return the seconds of a run: only CPU time on a busy machine, where runs wait for others."""
    return run.cpu_s if describe_load() else max(run.cpu_s, run.duration_s)


@dataclass
class GradingContext:
    """A green run and the facts about it: the argument of each measurement.

    A measurement returns its record, a text that says why there is none, or None if there is
    nothing to measure. Measurements run in threads of their own.

    `interface` is the contract's interface as stub source, and `contract` its whole text; both are
    '' without a contract. `disagreements` are the failing held-out examples, once measured.
    """

    sandbox: Sandbox
    code: str
    tests: Sequence[TestFile]
    module: str
    first_run: TestRun
    plan: Plan = field(default_factory=Plan)
    expected: Expectation | None = None
    held_out: Sequence[HeldOutExample] = ()
    interface: str = ""
    contract: str = ""
    disagreements: tuple[HeldOutExample, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _repeats: list[RecordedRun] = field(default_factory=list)

    @property
    def thresholds(self) -> Thresholds:
        return self.plan.thresholds

    @cached_property
    def suite_s(self) -> float:
        """The seconds that the tests take, by `measure_cost`."""
        return measure_cost(self.first_run)

    @property
    def is_bounded(self) -> bool:
        """Whether `Plan.bound` limits each piece: in a project, unless all mutants are wanted."""
        return self.plan.mutants is not None and self.project is not None

    @property
    def project(self) -> ProjectSandbox | None:
        """The sandbox of a project; None outside of projects."""
        return self.sandbox if isinstance(self.sandbox, ProjectSandbox) else None

    def read_test(self, file: TestFile) -> tuple[str, str]:
        """Return the self-contained texts of a test file and of the conftest files for it."""
        if self.project:
            return self.project.read_test(file)
        return file.code, "" if file.name == "conftest.py" else read_conftest(self.tests)

    def run_tests(
        self, code: str | None = None, tests: Sequence[TestFile] | None = None, **options: Any
    ) -> TestRun:
        """Run the tests on the code; `code` and `tests` replace either.

        Raises SandboxError: the sandbox cannot run anything.
        """
        code = self.code if code is None else code
        tests = self.tests if tests is None else tests
        return self.sandbox.run_tests(code, tests, module=self.module, **options)

    def repeat(self) -> RecordedRun:
        """Run the tests on instrumented code in another order, with another hash seed; cached.

        Raises SandboxError: the sandbox cannot run anything.
        """
        with self._lock:
            if not self._repeats:
                found = self.record_hits(
                    expected=self.expected, order_seed=ORDER_SEED, hash_seed=HASH_SEED
                )
                self._repeats.append(found)
            return self._repeats[0]

    def record_hits(self, **options: Any) -> RecordedRun:
        """Run the tests on instrumented code, and record the lines that each test reaches."""
        return self.sandbox.record_hits(self.code, self.tests, self.module, **options)
