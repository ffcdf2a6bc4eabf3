"""The context of the measurements of a grade."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from greenloop.errors import SandboxError
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.grading.plan import Plan
from greenloop.records import Coverage, Expectation, Flakiness, HeldOutExample, TestRun, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.testsuite import TestFile, read_conftest
from greenloop.testsuite.scenarios import (
    ScenarioFile,
    WholeFile,
    build_scenarios,
    build_whole_tests,
)
from greenloop.testsuite.scenarios.module_symbols import ClassSymbol

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
    there is none. `imported` are the classes that the module has from others of its project.
    `disagreements` are the held-out examples that fail, filled in by their measurement. `rerun`
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
    imported: Mapping[str, ClassSymbol] = field(default_factory=dict)
    disagreements: tuple[HeldOutExample, ...] = ()
    rerun: Rerun | SandboxError | None = None
    rerun_lock: threading.Lock = field(default_factory=threading.Lock)
    _scenarios: dict[str, ScenarioFile] = field(default_factory=dict)
    _scenarios_lock: threading.Lock = field(default_factory=threading.Lock)
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

    def plan_scenarios(self, file: TestFile) -> ScenarioFile:
        """Return the plan of a test file, made once."""
        with self._scenarios_lock:  # pieces in other threads need it at the same time
            if file.code not in self._scenarios:
                self._scenarios[file.code] = self._build(build_scenarios, file)
            return self._scenarios[file.code]

    def plan_whole_tests(self, file: TestFile) -> WholeFile:
        """Return the tests of a file as they are, for a process without pytest."""
        return self._build(build_whole_tests, file)

    def _build(self, build: Callable[..., _T], file: TestFile) -> _T:
        return build(file.code, self.module, self.code, self.imported, read_conftest(self.tests))

    def observe(
        self,
        request: ObservationRequest,
        tests: Sequence[TestFile] = (),
        *,
        hash_seed: int = HASH_SEED,
    ) -> Observed:
        """Return what scenarios observe on the code, judged beside these test files.

        Raises SandboxError where no process can be started.
        """
        seen = self.sandbox.observe_scenarios(
            self.code, self.module, request.scenario, hash_seed=hash_seed
        )
        if not request.judge:
            return Observed(seen)
        return Observed(seen, self.sandbox.judge_scenarios(request.judge, seen, tests))

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
