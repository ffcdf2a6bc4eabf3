"""The loop: a specification becomes reviewed, tested, graded code.

A contract is agreed on. Code and tests are written from it side by side; the code is reviewed, the
tests must fail on a stub. Then the tests run, and while they are red the code is repaired, a wrong
test is judged, or the code is written anew, up to N times. What is green is graded; where mutants
of it live on, tests are added, and it has to be green again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import ContractReady, Emit, RunFinished, ignore
from greenloop.grading import Plan
from greenloop.llm.budget import Ledger
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import Asker
from greenloop.llm.factory import asks_nobody
from greenloop.records import Report, SandboxInfo
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.tools.langchain import in_any_thread
from greenloop.tools.toolkit import Toolkit
from greenloop.tracing.setup import traced
from greenloop.workflow.delivery import with_artifacts, with_made
from greenloop.workflow.generate_code import write_code
from greenloop.workflow.generate_tests import earn_tests
from greenloop.workflow.grade_code import is_green
from greenloop.workflow.harden_tests import Hardener
from greenloop.workflow.heal.loop import heal_way
from greenloop.workflow.repair_code import Improver
from greenloop.workflow.report_builder import own_version, report_of
from greenloop.workflow.script.loop import script_way
from greenloop.workflow.setup.packages import provide_agreed
from greenloop.workflow.setup.runtime import Parts, opened
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.amendments import in_force
from greenloop.workflow.storage.request import RunRequest, kept_options
from greenloop.workflow.storage.run_dir import RunDirectory
from greenloop.workflow.strategy import ModuleCraft

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class CodingAgent:
    """Makes tested code of a specification.

    `model`, `fallback` and `sandbox` are taken as they are, or `parts` that several runs share;
    what is left out comes from the settings. Every run has a directory of its own, below `settings.home` unless one is named.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        model: BaseChatModel | None = None,
        fallback: BaseChatModel | None = None,
        sandbox: Sandbox | None = None,
        parts: Parts | None = None,
        emit: Emit = ignore,
    ) -> None:
        self._settings, self._emit = settings or Settings.load(), emit
        models = (item for item in (model, fallback) if item is not None)
        sources = tuple(ChatSource(type(item).__name__, item) for item in models)
        self._parts = parts or Parts(sources=sources, sandbox=sandbox)

    async def run(self, specification: str | RunRequest, run_dir: Path | None = None) -> Report:
        """The report of a new run.

        Raises:
            GreenloopError: the run broke off; its `report` holds what was reached.
        """
        request = specification
        if isinstance(request, str):
            options = kept_options(self._settings)
            request = RunRequest(specification=request, options=options, greenloop=own_version())
        directory = RunDirectory.create(self._settings.home, request.specification, run_dir)
        directory.save_request(request)
        return await self.resume(directory)

    async def resume(self, directory: RunDirectory) -> Report:
        """The report of a run that was begun, going on from its log. Raises as `run` does.

        A cancelled run leaves its report too, in its directory and in the event `RunFinished`.
        """
        async with traced(self._emit, self._parts.tracing) as emit:
            return await self._telling(emit)._resumed(directory)

    def _telling(self, emit: Emit) -> CodingAgent:
        return CodingAgent(self._settings, parts=self._parts, emit=emit)

    async def _resumed(self, directory: RunDirectory) -> Report:
        request = directory.load_request()
        with ExitStack() as stack:
            stack.enter_context(directory.locked())
            state = self._new_state(request)
            try:
                asker, kit = opened(
                    self._settings, self._parts, state, directory, stack, self._emit
                )
                await self._way(kit, asker, state)
            except asyncio.CancelledError:
                self._finished(state, directory, InterruptedRunError("interrupted"))
                raise
            except GreenloopError as error:
                error.report, _ = self._finished(state, directory, error)
                raise
            except (
                Exception
            ) as error:  # a mistake of ours: it is shown, but what was reached is kept
                self._finished(state, directory, GreenloopError(f"internal error: {error!r}"))
                raise
            report, unsaved = self._finished(state, directory, None)
            if unsaved is not None:
                unsaved.report = report
                raise unsaved
            return report

    async def _way(self, kit: Toolkit, asker: Asker, state: RunState) -> None:
        emit, repairs = self._emit, self._settings.max_repairs
        if state.request.script:
            await script_way(kit, asker, state, emit, repairs)
        elif state.request.original:
            await heal_way(kit, asker, state, emit, repairs, alone=asks_nobody(self._settings))
        else:
            await self._make(kit, asker, state)

    async def _make(self, kit: Toolkit, asker: Asker, state: RunState) -> None:
        emit, repairs = self._emit, self._settings.max_repairs
        given = "\n\n".join(item.code for item in state.request.given)
        parsed = await kit.parse_specification(
            state.request.specification, state.request.module, given
        )
        state.contract = in_force(parsed, state.request)
        emit(ContractReady(state.contract))
        await provide_agreed(kit, state, emit)
        await side_by_side(
            write_code(kit, state, emit, may_repair=repairs > 0),
            earn_tests(kit, state, emit),
        )
        craft = ModuleCraft(kit, state, emit)
        improver = Improver(craft, asker, state, emit, repairs)
        hardener = Hardener(kit, state, emit, self._settings.hardening_rounds, repairs)
        going_on = True
        while going_on:
            if await is_green(kit, craft, state, emit):
                going_on = await hardener.harden()
            else:
                going_on = await improver.improve()

    # --- what a run is made of, and what it leaves behind

    def _new_state(self, request: RunRequest) -> RunState:
        settings = self._settings
        total = self._parts.total
        budget = (None, None) if total else (settings.max_tokens, settings.max_cost)
        ledger = Ledger(*budget, total=total)
        unknown = SandboxInfo(backend=settings.sandbox, isolation="not opened")
        model, plan = settings.model or "not chosen", Plan.of(settings)
        return RunState(request, ledger, model, unknown, plan)

    def _finished(
        self, state: RunState, directory: RunDirectory, error: GreenloopError | None
    ) -> tuple[Report, OutputError | None]:
        """The report, saved with the best code and its tests; why not, where the disk is full."""
        report, unsaved = report_of(state, error), None
        try:
            report = with_artifacts(report, directory, state.request.record, _file_name(state))
            report = with_made(report, directory, state)
            directory.save_report(report)
        except OutputError as problem:
            unsaved = problem
        self._emit(RunFinished(report))
        return report, unsaved


def _file_name(state: RunState) -> str:
    """What the code's file is called, where the person named it; ''."""
    request = state.request
    if request.original:
        return request.original.name
    return request.script.name if request.script else ""


async def side_by_side(*work: Coroutine[Any, Any, None]) -> None:
    """Runs all at once and to their ends: an answer that is under way is paid for. Then the first
    error is raised."""
    ended = await asyncio.gather(*work, return_exceptions=True)
    for item in ended:
        if isinstance(item, BaseException):
            raise item


def refused(
    settings: Settings, specification: str, error: GreenloopError, run_dir: Path | None
) -> Report:
    """The report of a run that could not begin, saved where that is possible."""
    request = RunRequest(specification=specification, greenloop=own_version())
    sandbox = SandboxInfo(backend=settings.sandbox, isolation="not opened")
    state = RunState(request, Ledger(), settings.model or "not chosen", sandbox)
    report = report_of(state, error)
    with suppress(GreenloopError):
        directory = RunDirectory.create(settings.home, "refused", run_dir)
        report = with_artifacts(report, directory, None)
        directory.save_report(report)
    return report


def run_coding_agent(specification: str, **settings: Any) -> dict[str, Any]:
    """One run, from anywhere: the report as a dict. `settings` are those of `Settings`.

    Raises:
        GreenloopError: the run broke off.
    """
    agent = CodingAgent(Settings.load(**settings))
    report: Report = in_any_thread(agent.run(specification))
    return report.model_dump(mode="json")
