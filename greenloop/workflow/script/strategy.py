"""Scripts as candidates: run for what they show, held to checks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from greenloop.autofix import Fixed, free_fixes
from greenloop.events import Emit, Notice
from greenloop.events.progress import at_work
from greenloop.prompts.failure_context import shown_failures, summary
from greenloop.records import (
    Dispute,
    GeneratedCode,
    Judgement,
    Repair,
    ScriptJob,
    ScriptRun,
    TestRun,
)
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.scripts.evaluator import judge
from greenloop.scripts.regression import lost_output
from greenloop.tools.script_toolkit import ScriptTask, ScriptTools
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.run_tests import run_with_packages
from greenloop.workflow.script.checklist import PRINTED_BEFORE, Checklist, failing
from greenloop.workflow.script.inputs import task_of
from greenloop.workflow.setup.packages import file_elsewhere, fitted
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import Original
from greenloop.workflow.strategy import bounded, lost_by, standing_failures

_GONE = 10
_OUTPUT = 1500  # characters: here it is what tells most


@dataclass
class ScriptCraft:
    """A script that is written for a task, or one that exists and is healed (`original`)."""

    kit: Toolkit
    state: RunState
    emit: Emit
    job: ScriptJob
    original: Original | None = None
    first: ScriptRun | None = field(default=None, init=False)

    @property
    def tools(self) -> ScriptTools:
        packages = ", ".join(self.kit.packages.allowed.shown)
        return ScriptTools(self.kit.model, packages, self.job.allow_network)

    @property
    def checklist(self) -> Checklist:
        standing = self.state.standing
        assert isinstance(standing, Checklist)
        return standing

    @property
    def task(self) -> ScriptTask:
        wished = self.state.wishes if self.original else None
        return task_of(self.state.request, self.job, self.checklist, wished)

    def mended(self, code: str) -> Fixed:
        return free_fixes(code, minimal=True)

    async def run(self, code: str) -> TestRun:
        async def once() -> TestRun:
            done = await self.once(code)
            return self._with_what_it_printed(judge(done, self.checklist.checks), done)

        run = await run_with_packages(self.kit, self.state, self.emit, once, [code], self._own)
        self._advise(file_elsewhere(run, self.job))
        return run

    def _advise(self, text: str) -> None:
        """Once: what the person can do."""
        if text and text not in self.state.provisions.told:
            self.state.provisions.told.add(text)
            self.emit(Notice(text))

    async def once(self, code: str) -> ScriptRun:
        """One run as it is, kept where the report finds it."""
        box = fitted(self.kit, self.state).sandbox
        job = self.job.model_copy(update={"script": code})
        with at_work(self.emit, "the script"):
            done = await in_sandbox(box, partial(box.run_script, job))
        self.first = self.first or done
        best = self.state.history.best
        self.state.script_runs.keep(code, done, best.code if best else None)
        return done

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self._asked(base.code, run, base.n)

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green script, as its owner's last wish has it."""
        told = "All checks hold. What its owner asks for in the task is not done yet."
        request = bounded(self.state, base.code, base.n, told, (), 0)
        return await self._answered(request)

    async def rewrite(self, failed: Sequence[str]) -> GeneratedCode:
        """What is somebody's is not written anew: it is repaired from what it was at first."""
        if not self.original:
            return await self.tools.write_script(self.task, failed)
        first = self.state.history.tried[0]
        assert first.run is not None
        repair = await self._asked(first.code, first.run, first.n, from_the_original=True)
        return GeneratedCode(code=repair.code or first.code, explanation=repair.explanation)

    async def judge(self, dispute: Dispute) -> Judgement:
        return await self.tools.judge_check(self.task, dispute)

    async def _asked(
        self, code: str, run: TestRun, n: int, *, from_the_original: bool = False
    ) -> Repair:
        run = standing_failures(self.state, run)
        return await self._answered(self._request(code, run, n), from_the_original)

    async def _answered(self, request: RepairRequest, from_the_original: bool = False) -> Repair:
        return await self.tools.repair_script(
            self.task,
            request,
            keep=bool(self.original),
            lost=self._lost,
            disputable=self._disputable(),
            from_the_original=from_the_original,
        )

    def _request(self, code: str, run: TestRun, n: int) -> RepairRequest:
        shown = shown_failures(run, self.checklist, output=_OUTPUT)
        return bounded(self.state, code, n, summary(run, "checks"), shown, len(run.failures))

    def _lost(self, code: str) -> Sequence[str]:
        return lost_by(self.original, code, self.state.wishes) if self.original else ()

    def _disputable(self) -> Collection[str]:
        list_ = self.checklist
        return [item.id for item in list_.checks if list_.may_be_disputed(item.id)]

    def _with_what_it_printed(self, run: TestRun, done: ScriptRun) -> TestRun:
        """The run, red where a healed script does not print what the first one did print."""
        known = self.original and self.first is not None and self.checklist.stands(PRINTED_BEFORE)
        gone = lost_output(self.first, done) if known and self.first else []
        if not gone or done.ending != "finished":
            return run
        return failing(run, PRINTED_BEFORE, "LostOutput", "\n".join(gone[:_GONE]))

    @property
    def _own(self) -> set[str]:
        return {Path(item.path).stem for item in self.job.inputs} | {Path(self.job.name).stem}
