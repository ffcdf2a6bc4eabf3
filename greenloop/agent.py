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
from greenloop.events import ContractReady, EventSink, RunFinished, ignore_event
from greenloop.grading import Plan
from greenloop.llm.budget import Budget
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient
from greenloop.llm.factory import is_model_disabled
from greenloop.records import Report, SandboxInfo
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.tools.langchain import run_in_any_thread
from greenloop.tools.toolkit import Toolkit
from greenloop.tracing.setup import trace_run
from greenloop.workflow.delivery import save_artifacts, save_produced_files
from greenloop.workflow.generate_code import generate_and_review_code
from greenloop.workflow.generate_tests import generate_and_gate_tests
from greenloop.workflow.grade_code import run_and_grade
from greenloop.workflow.harden_tests import Hardener
from greenloop.workflow.heal.loop import run_heal_workflow
from greenloop.workflow.repair_code import RepairStep
from greenloop.workflow.report_builder import build_report, greenloop_version
from greenloop.workflow.script.loop import run_script_workflow
from greenloop.workflow.setup.packages import install_contract_packages
from greenloop.workflow.setup.runtime import SharedResources, open_run
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.amendments import effective_contract
from greenloop.workflow.storage.request import RunRequest, select_saved_options
from greenloop.workflow.storage.run_dir import RunDirectory
from greenloop.workflow.strategy import ModuleStrategy

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
        resources: SharedResources | None = None,
        emit: EventSink = ignore_event,
    ) -> None:
        self._settings, self._emit = settings or Settings.load(), emit
        models = (item for item in (model, fallback) if item is not None)
        sources = tuple(ChatSource(type(item).__name__, item) for item in models)
        self._resources = resources or SharedResources(sources=sources, sandbox=sandbox)

    async def run(self, specification: str | RunRequest, run_dir: Path | None = None) -> Report:
        """The report of a new run.

        Raises:
            GreenloopError: the run broke off; its `report` holds what was reached.
        """
        request = specification
        if isinstance(request, str):
            options = select_saved_options(self._settings)
            request = RunRequest(
                specification=request, options=options, greenloop=greenloop_version()
            )
        directory = RunDirectory.create(self._settings.home, request.specification, run_dir)
        directory.save_request(request)
        return await self.resume(directory)

    async def resume(self, directory: RunDirectory) -> Report:
        """The report of a run that was begun, going on from its log. Raises as `run` does.

        A cancelled run leaves its report too, in its directory and in the event `RunFinished`.
        """
        async with trace_run(self._emit, self._resources.tracing) as emit:
            return await self._with_event_sink(emit)._run_in_directory(directory)

    def _with_event_sink(self, emit: EventSink) -> CodingAgent:
        return CodingAgent(self._settings, resources=self._resources, emit=emit)

    async def _run_in_directory(self, directory: RunDirectory) -> Report:
        request = directory.load_request()
        with ExitStack() as stack:
            stack.enter_context(directory.lock())
            state = self._new_state(request)
            try:
                asker, kit = open_run(
                    self._settings, self._resources, state, directory, stack, self._emit
                )
                await self._run_workflow(kit, asker, state)
            except asyncio.CancelledError:
                self._finish(state, directory, InterruptedRunError("interrupted"))
                raise
            except GreenloopError as error:
                error.report, _ = self._finish(state, directory, error)
                raise
            except (
                Exception
            ) as error:  # a mistake of ours: it is shown, but what was reached is kept
                self._finish(state, directory, GreenloopError(f"internal error: {error!r}"))
                raise
            report, unsaved = self._finish(state, directory, None)
            if unsaved is not None:
                unsaved.report = report
                raise unsaved
            return report

    async def _run_workflow(self, kit: Toolkit, client: LLMClient, state: RunState) -> None:
        emit, repairs = self._emit, self._settings.max_repairs
        if state.request.script:
            await run_script_workflow(kit, client, state, emit, repairs)
        elif state.request.original:
            await run_heal_workflow(
                kit, client, state, emit, repairs, search_only=is_model_disabled(self._settings)
            )
        else:
            await self._run_make_workflow(kit, client, state)

    async def _run_make_workflow(self, kit: Toolkit, client: LLMClient, state: RunState) -> None:
        emit, repairs = self._emit, self._settings.max_repairs
        given = "\n\n".join(item.code for item in state.request.given)
        parsed = await kit.parse_specification(
            state.request.specification, state.request.module, given
        )
        state.contract = effective_contract(parsed, state.request)
        emit(ContractReady(state.contract))
        await install_contract_packages(kit, state, emit)
        await run_concurrently(
            generate_and_review_code(kit, state, emit, can_repair=repairs > 0),
            generate_and_gate_tests(kit, state, emit),
        )
        craft = ModuleStrategy(kit, state, emit)
        improver = RepairStep(craft, client, state, emit, repairs)
        hardener = Hardener(kit, state, emit, self._settings.hardening_rounds, repairs)
        going_on = True
        while going_on:
            if await run_and_grade(kit, craft, state, emit):
                going_on = await hardener.harden()
            else:
                going_on = await improver.advance()

    # --- what a run is made of, and what it leaves behind

    def _new_state(self, request: RunRequest) -> RunState:
        settings = self._settings
        total = self._resources.shared_budget
        budget = (None, None) if total else (settings.max_tokens, settings.max_cost)
        ledger = Budget(*budget, parent=total)
        unknown = SandboxInfo(backend=settings.sandbox, isolation="not opened")
        model, plan = settings.model or "not chosen", Plan.from_settings(settings)
        return RunState(request, ledger, model, unknown, plan)

    def _finish(
        self, state: RunState, directory: RunDirectory, error: GreenloopError | None
    ) -> tuple[Report, OutputError | None]:
        """The report, saved with the best code and its tests; why not, where the disk is full."""
        report, unsaved = build_report(state, error), None
        try:
            report = save_artifacts(report, directory, state.request.record, _code_file_name(state))
            report = save_produced_files(report, directory, state)
            directory.save_report(report)
        except OutputError as problem:
            unsaved = problem
        self._emit(RunFinished(report))
        return report, unsaved


def _code_file_name(state: RunState) -> str:
    """What the code's file is called, where the person named it; ''."""
    request = state.request
    if request.original:
        return request.original.name
    return request.script.name if request.script else ""


async def run_concurrently(*coroutines: Coroutine[Any, Any, None]) -> None:
    """Runs all at once and to their ends: an answer that is under way is paid for. Then the first
    error is raised."""
    ended = await asyncio.gather(*coroutines, return_exceptions=True)
    for item in ended:
        if isinstance(item, BaseException):
            raise item


def build_refusal_report(
    settings: Settings, specification: str, error: GreenloopError, run_dir: Path | None
) -> Report:
    """The report of a run that could not begin, saved where that is possible."""
    request = RunRequest(specification=specification, greenloop=greenloop_version())
    sandbox = SandboxInfo(backend=settings.sandbox, isolation="not opened")
    state = RunState(request, Budget(), settings.model or "not chosen", sandbox)
    report = build_report(state, error)
    with suppress(GreenloopError):
        directory = RunDirectory.create(settings.home, "refused", run_dir)
        report = save_artifacts(report, directory, None)
        directory.save_report(report)
    return report


def run_coding_agent(specification: str, **settings: Any) -> dict[str, Any]:
    """One run, from anywhere: the report as a dict. `settings` are those of `Settings`.

    Raises:
        GreenloopError: the run broke off.
    """
    agent = CodingAgent(Settings.load(**settings))
    report: Report = run_in_any_thread(agent.run(specification))
    return report.model_dump(mode="json")
