"""Resources of a run: model client, response log, sandbox, and the tools that use them."""

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.errors import GreenloopError, NoModelError
from greenloop.events import EventSink, RunStarted
from greenloop.llm.budget import Budget
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.factory import open_sources
from greenloop.llm.rate_limits import LocalRateLimits, RateLimits
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response_log import RecordingHeader, ResponseLog
from greenloop.records.contract import ChoiceAsker
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.views.jobs import InstrumentedSandbox
from greenloop.settings import Settings
from greenloop.tools.langchain import create_toolkit
from greenloop.tracing.setup import Tracing
from greenloop.versions import greenloop_version
from greenloop.workflow.setup.project_environment import use_environment
from greenloop.workflow.state import Run, RunState
from greenloop.workflow.storage.request import hash_recorded_texts
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class SharedResources:
    """Resources given to an agent, which several runs may share."""

    sources: tuple[ChatSource, ...] = ()  # the model and its fallback
    sandbox: Sandbox | None = None
    limits: RateLimits = field(default_factory=LocalRateLimits)
    shared_budget: Budget | None = None
    tracing: Tracing | None = None  # None: each run opens its own
    asker: ChoiceAsker | None = None  # the user, if one can be asked


def open_run(
    settings: Settings,
    resources: SharedResources,
    state: RunState,
    directory: RunDirectory,
    stack: ExitStack,
    emit: EventSink,
) -> Run:
    """Open the resources of a run; closing `stack` closes those that are not shared.

    Raises SandboxError, ModelFailure or InputError: the sandbox, the model, or the log is not
    usable, or recorded answers are those to another text.
    """
    client = _open_client(settings, resources, state, directory, emit)
    opened = resources.sandbox or stack.enter_context(open_sandbox(settings))
    if root := state.request.project_root:
        opened = stack.enter_context(use_environment(opened, Path(root), settings, emit, state))
    sandbox = InstrumentedSandbox(opened, emit)
    state.sandbox = sandbox.info
    emit(
        RunStarted(
            model=state.model,
            sandbox=sandbox.info.backend,
            isolation=sandbox.info.isolation,
            run_dir=str(directory.path),
            is_replay=any(item.is_recorded for item in client.sources),
            resumed_responses=client.log.loaded_count,
            max_repairs=state.repair_phase.limit,
        )
    )
    kit = create_toolkit(client, sandbox, settings)
    save = directory.save_request
    return Run(settings, state, client, kit, emit, save, directory.path, resources.asker)


def _open_client(
    settings: Settings,
    resources: SharedResources,
    state: RunState,
    directory: RunDirectory,
    emit: EventSink,
) -> LLMClient:
    """Return the client of the run's models; recorded answers have to be those to its text."""
    sources, missing_model_error = _select_sources(settings, resources, state)
    header = RecordingHeader(
        specification_sha256=hash_recorded_texts(state.request), greenloop=greenloop_version()
    )
    sources = [
        (
            replace(item, model=item.model.select(header.specification_sha256))
            if isinstance(item.model, ReplayChatModel)
            else item
        )
        for item in sources
    ]
    state.model = sources[0].name if sources else "none"
    record = state.request.record
    return LLMClient(
        sources,
        ResponseLog(
            directory.answers_file,
            Path(record) if record else None,
            header,
            by_prompt=state.request.greenloop == greenloop_version(),
        ),
        state.budget,
        RetryPolicy(settings.model_attempts, settings.model_backoff_s),
        emit,
        settings.secrets,
        missing_model_error,
        resources.limits,
    )


def _select_sources(
    settings: Settings, resources: SharedResources, state: RunState
) -> tuple[list[ChatSource], GreenloopError | None]:
    """Return the model and its fallback; or the error, if the run may not need a model."""
    given = list(resources.sources)
    if given or state.request.needs_model:
        return given or open_sources(settings), None
    if settings.is_model_disabled:
        return [], NoModelError("--model none: no model is called")
    try:
        return open_sources(settings), None
    except NoModelError as error:
        return [], error
