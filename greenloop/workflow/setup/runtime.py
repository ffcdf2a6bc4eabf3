"""What a run is made of: model, log, sandbox, and the tools on them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError, NoModelError
from greenloop.events import EventSink, RunStarted
from greenloop.llm.budget import Budget
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.factory import NO_MODEL, is_model_disabled, open_sources
from greenloop.llm.rate_limits import LocalRateLimits, RateLimits
from greenloop.llm.response_log import ResponseLog
from greenloop.prompts import PromptTemplates
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.views.instrumented import with_events
from greenloop.settings import Settings
from greenloop.tools.toolkit import Toolkit
from greenloop.tracing.setup import Tracing
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class SharedResources:
    """What is handed to an agent instead of being opened from the settings; runs may share it.

    `sources` are the model and its fallback; `total` is a budget over several runs; `tracing` is
    opened by each run for itself where it is None.
    """

    sources: tuple[ChatSource, ...] = ()
    sandbox: Sandbox | None = None
    limits: RateLimits = field(default_factory=LocalRateLimits)
    shared_budget: Budget | None = None
    tracing: Tracing | None = None


def open_run(
    settings: Settings,
    resources: SharedResources,
    state: RunState,
    directory: RunDirectory,
    stack: ExitStack,
    emit: EventSink,
) -> tuple[LLMClient, Toolkit]:
    """The parts of one run; what is opened here is closed with `stack`.

    Raises:
        SandboxError, ModelFailure, InputError: a part cannot be had.
    """
    request = state.request
    sandbox = with_events(resources.sandbox or stack.enter_context(open_sandbox(settings)), emit)
    state.sandbox = sandbox.info
    sources, why_none = _select_sources(settings, resources, state)
    state.model = sources[0].name if sources else NO_MODEL
    log = ResponseLog(directory.answers_file, Path(request.record) if request.record else None)
    key = settings.openai_api_key
    asker = LLMClient(
        sources,
        log,
        state.budget,
        RetryPolicy(settings.model_attempts, settings.model_backoff_s),
        emit,
        (key.get_secret_value(),) if key else (),
        why_none,
        resources.limits,
    )
    emit(
        RunStarted(
            model=state.model,
            sandbox=sandbox.info.backend,
            isolation=sandbox.info.isolation,
            run_dir=str(directory.path),
            is_replay=any(item.is_recorded for item in sources),
            resumed_responses=log.loaded_count,
        )
    )
    packages = PackageResolver(settings.allow_list)
    return asker, Toolkit(asker, sandbox, packages, PromptTemplates.open(settings.prompts))


def _select_sources(
    settings: Settings, resources: SharedResources, state: RunState
) -> tuple[list[ChatSource], GreenloopError | None]:
    """The model and its fallback. What is healed may need none: then why there is none."""
    given = list(resources.sources)
    if given or state.request.original is None:
        return given or open_sources(settings), None
    if is_model_disabled(settings):
        return [], NoModelError(f"--model {NO_MODEL}: no model is asked")
    try:
        return open_sources(settings), None
    except NoModelError as error:
        return [], error
