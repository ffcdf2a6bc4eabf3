"""The agent: a loop of test, grade and repair for one run, and the report of its result.

`run_loop` is the same for all kinds of runs. Their strategies differ: a module is written from a
contract and has to pass tests that fail on a stub; the output of a script has to pass checks; an
existing file is repaired with small edits.
"""

import asyncio
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from greenloop.errors import (
    GreenloopError,
    InputError,
    InterruptedRunError,
    OutputError,
    SandboxError,
)
from greenloop.events import EventSink, RunFinished, ignore_event
from greenloop.files import validate_text
from greenloop.keywords import suggest_keyword
from greenloop.llm.budget import Budget
from greenloop.llm.chat import ChatSource
from greenloop.records import Report
from greenloop.records.contract import ChoiceAsker
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.settings.keywords import SettingsKeywords
from greenloop.threads import complete_in_thread, run_in_any_thread
from greenloop.tracing.setup import trace_run
from greenloop.versions import greenloop_version
from greenloop.workflow.delivery import save_artifacts, save_produced_files
from greenloop.workflow.grade_code import run_and_grade
from greenloop.workflow.kinds import find_kind, load_request
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.repair_code import RepairStep
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.setup.runtime import SharedResources, open_run
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import RunRequest, select_saved_options
from greenloop.workflow.storage.run_dir import RunDirectory
from greenloop.workflow.strategy import Strategy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


async def run_loop(strategy: Strategy) -> None:
    """Test the code; extend the tests of green code, repair red code, until nothing is left to do.

    Raises:
        GreenloopError: a model call or the sandbox failed; the state keeps the result so far.
    """
    await strategy.prepare()
    repair = RepairStep(strategy)
    going_on = True
    while going_on:
        if await run_and_grade(strategy):
            going_on = await strategy.extend()
        else:
            going_on = (
                await strategy.search_repair()
                or await repair.advance()
                or await strategy.undo_change()
            )


class CodingAgent:
    """Makes or repairs code, tests it, and grades the result.

    `model`, `fallback` and `sandbox` are used instead of those that the settings name; `resources`
    can be shared by several runs. `asker` answers questions about what a text leaves open. Each run
    has its own directory, by default below `settings.home`.
    """

    @suggest_keyword
    def __init__(
        self,
        settings: Settings | None = None,
        *,
        model: "BaseChatModel | None" = None,
        fallback: "BaseChatModel | None" = None,
        sandbox: Sandbox | None = None,
        resources: SharedResources | None = None,
        emit: EventSink = ignore_event,
        asker: ChoiceAsker | None = None,
    ) -> None:
        self._settings, self._emit = settings or Settings.load(), emit
        models = (item for item in (model, fallback) if item is not None)
        sources = tuple(ChatSource(type(item).__name__, item) for item in models)
        self._resources = resources or SharedResources(
            sources=sources, sandbox=sandbox, asker=asker
        )

    async def run(self, specification: str | RunRequest, run_dir: Path | None = None) -> Report:
        """Run a specification or another request in a new run directory, and return the report.

        Raises:
            SpecificationError: it is no text.
            GreenloopError: the run ended early; its `report` holds what was reached.
        """
        request = specification
        if isinstance(request, str):
            options = select_saved_options(self._settings)
            request = MakeRequest(
                specification=validate_text(request), options=options, greenloop=greenloop_version()
            )
        directory = RunDirectory.create(self._settings.home, request.specification, run_dir)
        return await self._run_in_directory(directory, request, is_new=True)

    async def resume(self, directory: RunDirectory) -> Report:
        """Continue a run from its response log, and return the report. Raises as `run` does.

        A cancelled run also leaves a report, in its directory and in the event `RunFinished`.
        """
        return await self._run_in_directory(directory, load_request(directory))

    async def _run_in_directory(
        self, directory: RunDirectory, request: RunRequest, *, is_new: bool = False
    ) -> Report:
        async with trace_run(self._emit, self._resources.tracing) as emit:
            with ExitStack() as stack:
                stack.enter_context(directory.lock())
                state, error = self._new_state(request), None
                begun = False
                try:
                    if is_new:
                        await complete_in_thread(partial(directory.save_request, request))
                    run = open_run(self._settings, self._resources, state, directory, stack, emit)
                    begun = True
                    await run_loop(find_kind(request).strategy(run, request))
                except asyncio.CancelledError:
                    _finish(state, directory, InterruptedRunError("interrupted"), emit)
                    raise
                except GreenloopError as problem:
                    if is_new and not begun and isinstance(problem, InputError | SandboxError):
                        directory.remove_unused()
                        problem.report = build_report(state, problem)
                        raise
                    error = problem
                except Exception as bug:  # the report keeps the result so far
                    _finish(state, directory, GreenloopError(f"internal error: {bug!r}"), emit)
                    raise
                finish = partial(_finish, state, directory, error, emit)
                report, unsaved = await complete_in_thread(finish)
                error = error or unsaved
                if error is not None:
                    error.report = report
                    raise error
                return report

    def _new_state(self, request: RunRequest) -> RunState:
        settings, shared_budget = self._settings, self._resources.shared_budget
        limits = (None, None) if shared_budget else (settings.max_tokens, settings.max_cost)
        return RunState.create(request, settings, Budget(*limits, parent=shared_budget))


def _finish(
    state: RunState, directory: RunDirectory, error: GreenloopError | None, emit: EventSink
) -> tuple[Report, OutputError | None]:
    """Save and emit the report; return it, and the error if it could not be saved."""
    report, unsaved = build_report(state, error), None
    request = state.request
    try:
        report = save_artifacts(report, directory, request.record, request.code_file_name)
        report = save_produced_files(report, directory, state)
        directory.save_report(report)
    except OutputError as problem:
        unsaved = problem
        report = report.without_own_files()
    emit(RunFinished(report))
    return report, unsaved


def run_coding_agent(specification: str, **settings: Unpack[SettingsKeywords]) -> dict[str, Any]:
    """Make tested code for a specification, and return the report as a dict.

    It can be called from any thread. `settings` are fields of `Settings`.

    Raises:
        GreenloopError: the run ended early.
    """
    agent = CodingAgent(Settings.load(**settings))
    report: Report = run_in_any_thread(agent.run(specification))
    return report.model_dump(mode="json")
