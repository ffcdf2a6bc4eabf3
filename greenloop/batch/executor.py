"""Where the runs of a batch go on. The batch keeps the books; an engine has the runs made."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from greenloop.agent import CodingAgent
from greenloop.events import EventSink, ignore_event
from greenloop.llm.budget import Budget
from greenloop.llm.factory import open_sources
from greenloop.llm.rate_limits import LocalRateLimits
from greenloop.records import Report
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.views.throttled import ThrottledSandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import open_tracing
from greenloop.workflow.setup.runtime import SharedResources
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class BatchConfig:
    """What all runs of a batch are held to: conversations at once, requests and tokens a minute.

    The budgets are those of the settings.
    """

    settings: Settings
    jobs: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    emit: EventSink = ignore_event


class RunExecutor(Protocol):
    """An engine at work."""

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        """The report of one run, which goes on where its directory holds one already.

        `emit` hears of what happens in it, where it is made in this process.

        Raises:
            GreenloopError: it broke off; its `report` holds what was reached.
        """
        ...

    async def cost(self) -> float | None:
        """US dollars of all runs so far, None where a price is not known."""
        ...


class Executor(Protocol):
    """Has the runs of a batch made."""

    def open(self, config: BatchConfig) -> AbstractAsyncContextManager[RunExecutor]:
        """Opens what the runs share, and closes it.

        Raises:
            GreenloopError: nothing can be begun.
        """
        ...


@dataclass(frozen=True)
class LocalRunExecutor:
    """Runs in this process, over one sandbox."""

    settings: Settings
    resources: SharedResources
    sandbox: BaseSandbox
    slots: threading.Semaphore

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        sandbox = ThrottledSandbox(self.sandbox, self.slots)
        parts = replace(self.resources, sandbox=sandbox)
        agent = CodingAgent(self.settings, resources=parts, emit=emit)
        if directory.request_file.exists():
            return await agent.resume(directory)
        return await agent.run(request, directory.path)

    async def cost(self) -> float | None:
        return self.resources.shared_budget.cost if self.resources.shared_budget else None


def create_local_run_executor(
    settings: Settings, resources: SharedResources, concurrency: int, stack: ExitStack
) -> LocalRunExecutor:
    """Runs that share `parts`, a model, tracers, and a sandbox in which so many go on `at_once`.

    Raises:
        SandboxError, ModelFailure: one of them cannot be had.
    """
    box = stack.enter_context(open_sandbox(settings))
    assert isinstance(box, BaseSandbox)
    tracing = open_tracing()
    stack.callback(tracing.close)
    shared = replace(resources, sources=tuple(open_sources(settings)), tracing=tracing)
    return LocalRunExecutor(settings, shared, box, threading.Semaphore(concurrency))


@dataclass(frozen=True)
class LocalExecutor:
    """All runs in this process, side by side."""

    @asynccontextmanager
    async def open(self, config: BatchConfig) -> AsyncIterator[RunExecutor]:
        settings = config.settings
        limits = LocalRateLimits(
            config.jobs * 2, config.requests_per_minute, config.tokens_per_minute
        )
        total = Budget(max_tokens=settings.max_tokens, max_cost=settings.max_cost)
        with ExitStack() as stack:
            at_once = max(2, os.cpu_count() or 1)
            yield create_local_run_executor(
                settings, SharedResources(limits=limits, shared_budget=total), at_once, stack
            )
