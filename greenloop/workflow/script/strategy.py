"""Scripts as candidates: run for what they show, held to checks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.events import EventSink, Notice
from greenloop.events.progress import progress_span
from greenloop.prompts.failure_context import select_failures, summarize_run
from greenloop.records import (
    Dispute,
    GeneratedCode,
    Judgement,
    Repair,
    ScriptJob,
    ScriptRun,
    TestRun,
)
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.scripts.evaluator import evaluate_checks
from greenloop.scripts.regression import find_lost_output
from greenloop.tools.script_toolkit import ScriptTask, ScriptToolkit
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.run_tests import run_with_packages
from greenloop.workflow.script.checklist import PREVIOUS_OUTPUT_CHECK, Checklist, with_failed_check
from greenloop.workflow.script.inputs import build_task
from greenloop.workflow.setup.packages import suggest_input_path, with_installed_packages
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import OriginalFile
from greenloop.workflow.strategy import (
    build_repair_request,
    find_lost_features,
    select_active_failures,
)

_MAX_LOST_LINES = 10
_MAX_OUTPUT_CHARS = 1500  # characters: here it is what tells most


@dataclass
class ScriptStrategy:
    """A script that is written for a task, or one that exists and is healed (`original`)."""

    kit: Toolkit
    state: RunState
    emit: EventSink
    job: ScriptJob
    original: OriginalFile | None = None
    first_run: ScriptRun | None = field(default=None, init=False)

    @property
    def tools(self) -> ScriptToolkit:
        packages = ", ".join(self.kit.packages.allowlist.descriptions)
        return ScriptToolkit(self.kit.model, packages, self.job.allow_network, self.kit.prompts)

    @property
    def checklist(self) -> Checklist:
        standing = self.state.active_tests
        assert isinstance(standing, Checklist)
        return standing

    @property
    def task(self) -> ScriptTask:
        wished = self.state.change_requests if self.original else None
        return build_task(self.state.request, self.job, self.checklist, wished)

    def apply_autofix(self, code: str) -> FixResult:
        return apply_free_fixes(code, minimal=True)

    async def run(self, code: str) -> TestRun:
        async def once() -> TestRun:
            done = await self.run_script(code)
            return self._check_previous_output(evaluate_checks(done, self.checklist.checks), done)

        run = await run_with_packages(
            self.kit, self.state, self.emit, once, [code], self._local_names
        )
        self._notify_once(suggest_input_path(run, self.job))
        return run

    def _notify_once(self, text: str) -> None:
        """Once: what the person can do."""
        if text and text not in self.state.packages.notified:
            self.state.packages.notified.add(text)
            self.emit(Notice(text))

    async def run_script(self, code: str) -> ScriptRun:
        """One run as it is, kept where the report finds it."""
        box = with_installed_packages(self.kit, self.state).sandbox
        job = self.job.model_copy(update={"script": code})
        with progress_span(self.emit, "the script"):
            done = await run_in_sandbox_thread(box, partial(box.run_script, job))
        self.first_run = self.first_run or done
        best = self.state.candidates.best
        self.state.script_runs.keep(code, done, best.code if best else None)
        return done

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self._repair_run(base.code, run, base.n)

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green script, as its owner's last wish has it."""
        told = "All checks hold. What its owner asks for in the task is not done yet."
        request = build_repair_request(self.state, base.code, base.n, told, (), 0)
        return await self._request_repair(request)

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        """What is somebody's is not written anew: it is repaired from what it was at first."""
        if not self.original:
            return await self.tools.write_script(self.task, failed_approaches)
        first = self.state.candidates.tested_candidates[0]
        assert first.run is not None
        repair = await self._repair_run(first.code, first.run, first.n, from_the_original=True)
        return GeneratedCode(code=repair.code or first.code, explanation=repair.explanation)

    async def judge(self, dispute: Dispute) -> Judgement:
        return await self.tools.judge_check(self.task, dispute)

    async def _repair_run(
        self, code: str, run: TestRun, n: int, *, from_the_original: bool = False
    ) -> Repair:
        run = select_active_failures(self.state, run)
        return await self._request_repair(self._build_request(code, run, n), from_the_original)

    async def _request_repair(
        self, request: RepairRequest, from_the_original: bool = False
    ) -> Repair:
        return await self.tools.repair_script(
            self.task,
            request,
            keep=bool(self.original),
            lost=self._find_lost_features,
            disputable=self._disputable_checks(),
            from_the_original=from_the_original,
        )

    def _build_request(self, code: str, run: TestRun, n: int) -> RepairRequest:
        shown = select_failures(run, self.checklist, max_output_chars=_MAX_OUTPUT_CHARS)
        return build_repair_request(
            self.state, code, n, summarize_run(run, "checks"), shown, len(run.failures)
        )

    def _find_lost_features(self, code: str) -> Sequence[str]:
        return (
            find_lost_features(self.original, code, self.state.change_requests)
            if self.original
            else ()
        )

    def _disputable_checks(self) -> Collection[str]:
        list_ = self.checklist
        return [item.id for item in list_.checks if list_.may_be_disputed(item.id)]

    def _check_previous_output(self, run: TestRun, script_run: ScriptRun) -> TestRun:
        """The run, red where a healed script does not print what the first one did print."""
        known = (
            self.original
            and self.first_run is not None
            and self.checklist.is_active(PREVIOUS_OUTPUT_CHECK)
        )
        gone = find_lost_output(self.first_run, script_run) if known and self.first_run else []
        if not gone or script_run.ending != "finished":
            return run
        return with_failed_check(
            run, PREVIOUS_OUTPUT_CHECK, "LostOutput", "\n".join(gone[:_MAX_LOST_LINES])
        )

    @property
    def _local_names(self) -> set[str]:
        return {Path(item.path).stem for item in self.job.inputs} | {Path(self.job.name).stem}
