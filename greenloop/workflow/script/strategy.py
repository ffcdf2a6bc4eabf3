"""Strategies of scripts, whose output has to pass checks."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.errors import InvalidResponseError
from greenloop.events import ChecksReady, CodeGraded
from greenloop.events.progress import progress_span
from greenloop.grading.integrity.issues import find_integrity_issues
from greenloop.prompts.failure_context import select_failures, summarize_run
from greenloop.records import (
    Evidence,
    Flakiness,
    OutputCheck,
    RedPhase,
    ScriptJob,
    ScriptRun,
    TestRun,
)
from greenloop.records.generation import Dispute, GeneratedCode, Judgement, Repair
from greenloop.scripts.checks.factories import complete_checks
from greenloop.scripts.evaluator import evaluate_checks
from greenloop.tools.script_toolkit import ScriptTask, ScriptToolkit
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.heal.request import HealScriptRequest
from greenloop.workflow.run_tests import run_with_packages
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.script.inputs import build_job, build_task
from greenloop.workflow.script.request import ScriptRequest
from greenloop.workflow.setup.packages import suggest_input
from greenloop.workflow.state import Run
from greenloop.workflow.strategy import Strategy

_MAX_OUTPUT_CHARS = 1500  # more than for tests: output is the main evidence on a script
_FLAKY = "in a second run, after all checks held in the first"
_VACUOUS_REASON = "also holds for a script that does nothing"


class ScriptStrategy(Strategy):
    """A script with a checklist. `first_run` is the result of its first run."""

    request: ScriptRequest | HealScriptRequest
    keeps_features = False
    first_run: ScriptRun | None = None

    @cached_property
    def job(self) -> ScriptJob:
        """The sandbox job of each run, without the script's text. Raises InputError."""
        return build_job(self.request.script)

    @property
    def tools(self) -> ScriptToolkit:
        """The tools for scripts."""
        return ScriptToolkit(self.run.kit)

    @property
    def task_text(self) -> str:
        """The task of the script, as prompts show it."""
        return self.request.task

    @property
    def task(self) -> ScriptTask:
        """The task with its inputs and checks, as prompts show them."""
        return build_task(self.task_text, self.job, self.state.checklist)

    def apply_autofix(self, code: str) -> FixResult:
        return apply_free_fixes(code, minimal=True)

    async def run_candidate(self, code: str) -> TestRun:
        async def run_once() -> TestRun:
            return self.check_run(await self._run_script(code))

        local_names = {Path(item.path).stem for item in self.job.inputs} | {
            Path(self.job.name).stem
        }
        result = await run_with_packages(self.run, run_once, [code], local_names)
        if advice := suggest_input(result, code, self.job):
            self.run.notify_once(advice, advice)
        return result

    def check_run(self, script_run: ScriptRun) -> TestRun:
        """Return the checks' outcomes as those of a test run."""
        return evaluate_checks(script_run, self.state.checklist.checks)

    async def _run_script(self, code: str) -> ScriptRun:
        """Run a script once, and keep the result for the report."""
        job = self.job.model_copy(update={"script": code})
        with progress_span(self.run.emit, "the script"):
            done = await self.run.call_in_sandbox(lambda sandbox: sandbox.run_script(job))
        self.first_run = self.first_run or done
        state, best = self.state, self.state.candidates.best
        kept = [best.code] if best and best.code in state.script_runs else []
        state.script_runs = {name: state.script_runs[name] for name in kept} | {code: done}
        return done

    async def grade(self, result: TestRun) -> bool:
        """Run a green script again: it is red if a check fails, and differences are reported."""
        state, code = self.state, self.state.candidates.current.code
        first = state.script_runs.get(code)
        with state.measure_time("grading_s"):
            again = await self._run_script(code)
        differing = _find_differences(first, again) if first else ()
        second = evaluate_checks(again, state.checklist.checks)
        if not second.passed:
            self.run.notify("its checks did not hold in a second run: it is flaky")
            state.candidates.record_run(state.candidates.current, _mark_second(second))
            state.green_run = None
        flakiness = Flakiness(reached=not differing, order_seed=0, hash_seed=0, differing=differing)
        state.evidence = Evidence(flakiness=flakiness, integrity=find_integrity_issues(code))
        self.run.emit(CodeGraded(state.evidence))
        return False

    def describe_failures(self, base: Candidate, result: TestRun) -> RepairRequest:
        result = self.select_active_failures(result)
        shown = select_failures(result, self.state.checklist, max_output_chars=_MAX_OUTPUT_CHARS)
        return self.build_request(
            base, summarize_run(result, "checks"), shown, len(result.failures)
        )

    async def request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        checklist = self.state.checklist
        names = [item.id for item in checklist.checks if checklist.may_be_disputed(item.id)]
        return await self.tools.repair_script(
            self.task,
            request,
            keep=self.keeps_features,
            lost=self.find_lost_features,
            disputable=names,
            from_the_original=from_the_original,
        )

    def find_lost_features(self, code: str) -> Sequence[str]:
        """Return features of the original that a repair loses: a new script has none."""
        return ()

    async def judge(self, dispute: Dispute) -> Judgement:
        return await self.tools.judge_check(self.task, dispute)


class WriteScriptStrategy(ScriptStrategy):
    """A script written for a task, after its checks were agreed on."""

    def __init__(self, run: Run, request: ScriptRequest) -> None:
        super().__init__(run)
        self.request: ScriptRequest = request

    async def prepare(self) -> None:
        given = self.request.script.checks
        self.state.suite = Checklist(given, own_file=self.job.name)
        wanted = (*given, *await self._propose_checks())
        checks = complete_checks(wanted, requires_output=not any(item.file for item in wanted))
        self.state.suite = Checklist(checks, own_file=self.job.name)
        self.state.red_phase = self._drop_vacuous_checks(checks)
        self.run.emit(ChecksReady(self.state.checklist.checks))
        meter = self.run.measure_calls()
        written = await self.tools.write_script(self.task)
        self.run.add_candidate("generate", written.code, written.explanation, meter)

    async def _propose_checks(self) -> tuple[OutputCheck, ...]:
        try:
            return await self.tools.propose_checks(self.task)
        except InvalidResponseError as error:
            self.run.note(f"no checks were derived from the task: {error}")
            self.run.notify(str(error))
            return ()

    def _drop_vacuous_checks(self, checks: Sequence[OutputCheck]) -> RedPhase:
        """Drop checks that hold for a script that does nothing, except `status` and `silent`."""
        idle = evaluate_checks(ScriptRun(ending="finished", exit_status=0), checks)
        exempt = {item.id for item in checks if item.kind in ("status", "silent")}
        passing = [
            item.id for item in idle.tests if item.outcome == "passed" and item.id not in exempt
        ]
        for name in passing:
            self.state.suite = self.state.active_tests.drop(name, _VACUOUS_REASON, disputed=False)
        red = len(checks) - len(exempt) - len(passing)
        return RedPhase(reached=red > 0, failed=red, passing_on_stub=tuple(passing))

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        return await self.tools.write_script(self.task, failed_approaches)


def _mark_second(run: TestRun) -> TestRun:
    """Return a run whose failures say that the same script had passed before."""
    failures = (
        item.model_copy(update={"message": f"{_FLAKY}: {item.message}"}) for item in run.failures
    )
    return run.model_copy(update={"failures": tuple(failures)})


def _find_differences(one: ScriptRun, other: ScriptRun) -> tuple[str, ...]:
    """Return what differs between two runs: 'standard output', and paths of files."""
    printed = () if one.stdout == other.stdout else ("standard output",)
    before = {item.path: item.sha256 for item in one.made}
    after = {item.path: item.sha256 for item in other.made}
    paths = sorted(before.keys() | after.keys())
    return (*printed, *(path for path in paths if before.get(path) != after.get(path)))
