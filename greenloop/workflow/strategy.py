"""Candidate strategies: how one kind of run prepares, tests, grades, and repairs its code."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from greenloop.autofix import FixResult
from greenloop.prompts.failure_context import ShownFailure, select_failures, summarize_run
from greenloop.records import TestRun
from greenloop.records.generation import Dispute, GeneratedCode, Judgement, Repair
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.state import Run

_MAX_RULINGS = 5


class Strategy(ABC):
    """Steps of a run that depend on its kind: a module, a script or a change of a project.

    All but `apply_autofix` raise GreenloopError if a model call or the sandbox fails.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.state = run, run.state

    @abstractmethod
    async def prepare(self) -> None:
        """Set what candidates have to pass, and add the first candidate."""

    @abstractmethod
    def apply_autofix(self, code: str) -> FixResult:
        """Return the code after repairs that need no model."""

    @abstractmethod
    async def run_candidate(self, code: str) -> TestRun:
        """Run a candidate once."""

    @abstractmethod
    async def grade(self, result: TestRun) -> bool:
        """Collect the evidence of a green run; return whether that added tests.

        Code that turns out red is recorded with its red run, and the run is no longer green.
        """

    async def extend(self) -> bool:
        """Add tests or a change after a green run; return False if there is nothing to add."""
        return False

    async def search_repair(self) -> bool:
        """Look for a better candidate before a repair is requested; return whether there is one."""
        return False

    def describe_failures(self, base: Candidate, result: TestRun) -> RepairRequest:
        """Return the request to repair a candidate whose run was red."""
        result = self.select_active_failures(result)
        shown = select_failures(result, self.state.code_tests)
        return self.build_request(base, summarize_run(result), shown, len(result.failing_tests))

    @abstractmethod
    async def request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        """Return the model's answer to a repair request."""

    @abstractmethod
    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        """Return new code that avoids the approaches that failed."""

    @abstractmethod
    async def judge(self, dispute: Dispute) -> Judgement:
        """Return whether the test or the code is wrong, judged without seeing the code."""

    async def undo_change(self) -> bool:
        """Undo a red change, or apply later answers of the user; return whether the run goes on."""
        return False

    def select_active_failures(self, result: TestRun) -> TestRun:
        """Return the run without failures of dropped tests."""
        active = tuple(item for item in result.failures if self.state.is_active(item.test))
        return result.model_copy(update={"failures": active})

    def build_request(
        self,
        base: Candidate,
        summary: str,
        failures: Sequence[ShownFailure] = (),
        failure_count: int = 0,
    ) -> RepairRequest:
        """Return a repair request of bounded size.

        It shows some of `failure_count` failures, the other attempts in a line each, and the last
        rulings on disputes.
        """
        return RepairRequest(
            code=base.code,
            summary=summary,
            failures=failures,
            omitted=max(0, failure_count - len(failures)),
            history=self.state.candidates.format_attempts(exclude=base.n),
            rulings=tuple(self.state.rulings[-_MAX_RULINGS:]),
        )
