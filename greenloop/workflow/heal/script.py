"""Strategy of an existing script: repaired until it runs, its checks hold, and it prints the same."""

from __future__ import annotations

from greenloop.events import ChecksReady
from greenloop.records import OutputCheck, ScriptRun, TestRun
from greenloop.scripts.checks.factories import complete_checks
from greenloop.scripts.regression import find_lost_output
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.heal.strategy import HealStrategy
from greenloop.workflow.script.checklist import PREVIOUS_OUTPUT_CHECK, Checklist, with_failed_check
from greenloop.workflow.script.inputs import describe_changes
from greenloop.workflow.script.strategy import ScriptStrategy
from greenloop.workflow.state import Run
from greenloop.workflow.storage.request import HealScriptRequest

_MAX_LOST_LINES = 10


class HealScriptStrategy(HealStrategy, ScriptStrategy):
    """A script of the user's, which has to keep what it printed when it ran first."""

    green_summary = "All checks hold. What its owner asks for in the task is not done yet."

    def __init__(self, run: Run, request: HealScriptRequest) -> None:
        super().__init__(run)
        self.request: HealScriptRequest = request

    async def prepare(self) -> None:
        """Set the checks: the user's, that it ends well, and that it prints what it printed."""
        script, original = self.request.script, self.request.original
        checks = complete_checks(script.checks, requires_output=False)
        kept = OutputCheck(id=PREVIOUS_OUTPUT_CHECK, kind="kept", origin="generated")
        self.state.suite = Checklist((*checks, kept), own_file=self.job.name)
        self.run.emit(ChecksReady(checks))
        self.state.candidates.add(Candidate(original.text, "generate", "the script as it was"))

    @property
    def task_text(self) -> str:
        return describe_changes(self.state.change_requests)

    def check_run(self, script_run: ScriptRun) -> TestRun:
        """Check a run, and that it prints what the first run printed."""
        result = super().check_run(script_run)
        is_checked = self.state.checklist.is_active(PREVIOUS_OUTPUT_CHECK)
        if self.first_run is None or not is_checked or script_run.ending != "finished":
            return result
        lost = find_lost_output(self.first_run, script_run)
        if not lost:
            return result
        message = "\n".join(lost[:_MAX_LOST_LINES])
        return with_failed_check(result, PREVIOUS_OUTPUT_CHECK, "LostOutput", message)
