"""Strategy of an existing script: repaired until it passes its checks and prints the same."""

from greenloop.events import ChecksReady
from greenloop.records import OutputCheck, ScriptRun, TestRun
from greenloop.reporting.escaping import first_line
from greenloop.scripts.checks.factories import complete_checks
from greenloop.scripts.regression import find_lost_output, find_suppressed_errors
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.heal.request import HealScriptRequest
from greenloop.workflow.heal.strategy import HealStrategy
from greenloop.workflow.script.checklist import PREVIOUS_OUTPUT_CHECK, Checklist, with_lost_output
from greenloop.workflow.script.inputs import describe_changes
from greenloop.workflow.script.strategy import ScriptStrategy
from greenloop.workflow.state import Run

_MAX_LOST_LINES, _MAX_SHOWN_LINES = 10, 3
_UNCHECKED_NOTE = (
    "the script prints nothing and no check was given, so that only its exit status was checked: "
    "add --expect or --expect-file"
)


class HealScriptStrategy(HealStrategy, ScriptStrategy):
    """Repair of a script, which has to keep the output of its first run."""

    green_summary = "All checks hold. What its owner asks for in the task is not done yet."

    def __init__(self, run: Run, request: HealScriptRequest) -> None:
        super().__init__(run)
        self.request: HealScriptRequest = request

    async def prepare(self) -> None:
        """Set the checks: the user's, exit status 0, and the output of the first run."""
        script, original = self.request.script, self.request.original
        checks = complete_checks(script.checks, requires_output=False)
        kept = OutputCheck(id=PREVIOUS_OUTPUT_CHECK, kind="kept", origin="generated")
        self.state.suite = Checklist((*checks, kept), own_file=self.job.name)
        self.run.emit(ChecksReady(checks))
        self.state.candidates.add(Candidate(original.text, "generate", "the script as it was"))

    async def grade(self, result: TestRun) -> bool:
        """Grade as other scripts; note suppressed errors, missing checks, and changed output."""
        goes_on = await super().grade(result)
        code, original = self.state.candidates.current.code, self.request.original.text
        for line in find_suppressed_errors(original, code):
            self.run.note(f"the repair suppresses errors: {line}")
        done = self.state.script_runs[code]
        if not (self.request.script.checks or done.stdout or done.made):
            self.run.note(_UNCHECKED_NOTE)
        if code != original and self.first_run is not None:
            self.run.notify(f"before: {_describe_output(self.first_run)}")
            self.run.notify(f"after: {_describe_output(done)}")
        return goes_on

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
        return with_lost_output(result, PREVIOUS_OUTPUT_CHECK, message)


def _describe_output(run: ScriptRun) -> str:
    """Return the exit status of a run, and the first lines that it printed."""
    lines = run.stdout.splitlines()
    more = f" / … {len(lines) - _MAX_SHOWN_LINES} more" if len(lines) > _MAX_SHOWN_LINES else ""
    shown = " / ".join(first_line(item, 80) for item in lines[:_MAX_SHOWN_LINES]) + more
    failed = f" ({run.error.exception}: {first_line(run.error.message, 80)})" if run.error else ""
    return f"exit status {run.exit_status}{failed}, printed: {shown or 'nothing'}"
