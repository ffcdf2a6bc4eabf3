"""What a run is made of: model, log, sandbox, and the tools on them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.dependencies import Provider
from greenloop.errors import GreenloopError, NoModelError
from greenloop.events import Emit, RunStarted
from greenloop.llm.budget import Ledger
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import Asker, RetryPolicy
from greenloop.llm.factory import NO_MODEL, asks_nobody, open_sources
from greenloop.llm.rate_limits import CallLimits, Limits
from greenloop.llm.response_log import AnswerLog
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.views.instrumented import told
from greenloop.settings import Settings
from greenloop.tools.toolkit import Toolkit
from greenloop.tracing.setup import Tracing
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class Parts:
    """What is handed to an agent instead of being opened from the settings; runs may share it.

    `sources` are the model and its fallback; `total` is a budget over several runs; `tracing` is
    opened by each run for itself where it is None.
    """

    sources: tuple[ChatSource, ...] = ()
    sandbox: Sandbox | None = None
    limits: Limits = field(default_factory=CallLimits)
    total: Ledger | None = None
    tracing: Tracing | None = None


def opened(
    settings: Settings,
    parts: Parts,
    state: RunState,
    directory: RunDirectory,
    stack: ExitStack,
    emit: Emit,
) -> tuple[Asker, Toolkit]:
    """The parts of one run; what is opened here is closed with `stack`.

    Raises:
        SandboxError, ModelFailure, InputError: a part cannot be had.
    """
    request = state.request
    sandbox = told(parts.sandbox or stack.enter_context(open_sandbox(settings)), emit)
    state.sandbox = sandbox.info
    sources, why_none = _sources(settings, parts, state)
    state.model = sources[0].name if sources else NO_MODEL
    log = AnswerLog(directory.answers, Path(request.record) if request.record else None)
    key = settings.openai_api_key
    asker = Asker(
        sources,
        log,
        state.ledger,
        RetryPolicy(settings.model_attempts, settings.model_backoff_s),
        emit,
        (key.get_secret_value(),) if key else (),
        why_none,
        parts.limits,
    )
    emit(
        RunStarted(
            model=state.model,
            sandbox=sandbox.info.backend,
            isolation=sandbox.info.isolation,
            run_dir=str(directory.path),
            recorded=any(item.recorded for item in sources),
            resumed_answers=log.held,
        )
    )
    return asker, Toolkit(asker, sandbox, Provider(settings.allow_list))


def _sources(
    settings: Settings, parts: Parts, state: RunState
) -> tuple[list[ChatSource], GreenloopError | None]:
    """The model and its fallback. What is healed may need none: then why there is none."""
    given = list(parts.sources)
    if given or state.request.original is None:
        return given or open_sources(settings), None
    if asks_nobody(settings):
        return [], NoModelError(f"--model {NO_MODEL}: no model is asked")
    try:
        return open_sources(settings), None
    except NoModelError as error:
        return [], error
