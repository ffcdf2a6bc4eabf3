"""The plan of a grade, and the context of its measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.records import Expectation, HeldOutExample, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile


@dataclass(frozen=True)
class Plan:
    """`mutants` is the maximum number of mutants (None: all, 0: they are not measured)."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    mutants: int | None = 100
    seed: int = 20261

    @classmethod
    def from_settings(cls, settings: Settings) -> Plan:
        mutants = None if settings.mutants == "all" else settings.mutants
        return cls(thresholds=settings.thresholds, mutants=mutants)


@dataclass
class GradingContext:
    """A green run and what is known of it: the argument of each measurement.

    A measurement returns its record, text that says why it could not be taken, or None where there
    is nothing to measure. Measurements run in threads of their own.

    `interface` is that of the contract, as stub source, and `contract` its whole text, '' where
    there is none. `disagreements` are the held-out examples that fail, filled in by their measurement.
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

    @property
    def thresholds(self) -> Thresholds:
        return self.plan.thresholds

    def run_tests(
        self, code: str | None = None, tests: Sequence[TestFile] | None = None, **options: Any
    ) -> TestRun:
        """Run the tests on the code, or others in their place.

        Raises:
            SandboxError: the sandbox cannot run anything.
        """
        code = self.code if code is None else code
        tests = self.tests if tests is None else tests
        return self.sandbox.run_tests(code, tests, module=self.module, **options)
