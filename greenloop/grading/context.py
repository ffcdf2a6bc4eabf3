"""The context of the measurements of a grade."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from greenloop.errors import SandboxError
from greenloop.grading.plan import Plan
from greenloop.records import Coverage, Expectation, Flakiness, HeldOutExample, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

_T = TypeVar("_T")


class Rerun(NamedTuple):
    """What a second run shows. `coverage` is None where it needs a run of its own."""

    flakiness: Flakiness
    coverage: Coverage | str | None = None


class _Remembered:
    """What a function has made of a context: one value, or none yet."""

    def __init__(self) -> None:
        self.lock, self.values = threading.RLock(), list[Any]()


@dataclass
class GradingContext:
    """A green run and what is known of it: the argument of each measurement.

    A measurement returns its record, text that says why it could not be taken, or None where there
    is nothing to measure. Measurements run in threads of their own.

    `interface` is that of the contract, as stub source, and `contract` its whole text, '' where
    there is none. `disagreements` are the held-out examples that fail, filled in by their measurement. `rerun`
    holds the run that flakiness and coverage share, or the error in it.
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
    rerun: Rerun | SandboxError | None = None
    rerun_lock: threading.Lock = field(default_factory=threading.Lock)
    _remembered: dict[Callable[[GradingContext], Any], _Remembered] = field(default_factory=dict)

    @property
    def thresholds(self) -> Thresholds:
        return self.plan.thresholds

    def remember(self, plan: Callable[[GradingContext], _T]) -> _T:
        """Return what a function makes of this context, computed once, whichever thread asks."""
        remembered = self._remembered.setdefault(plan, _Remembered())
        with remembered.lock:
            if not remembered.values:
                remembered.values.append(plan(self))
        found: _T = remembered.values[0]
        return found

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
