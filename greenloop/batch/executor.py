"""Executors of a batch: the protocol, and the one for runs in this process."""

import gc
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
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.views.jobs import ThrottledSandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import open_tracing
from greenloop.workflow.setup.runtime import SharedResources
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class BatchConfig:
    """Settings (with the budget) and limits that all runs of a batch share."""

    settings: Settings
    jobs: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    emit: EventSink = ignore_event


class RunExecutor(Protocol):
    """An open executor, which performs runs."""

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        """Perform a run, or resume the one in its directory, and return its report.

        `emit` receives its events where it runs in this process.
        Raises GreenloopError: the run was aborted; `report` has its result so far.
        """
        ...

    async def cost(self) -> float | None:
        """Return the US dollars of all runs so far; None if a price is unknown."""
        ...


class Executor(Protocol):
    """Factory of a batch's RunExecutor; registered under `greenloop.executors`."""

    def open(self, config: BatchConfig) -> AbstractAsyncContextManager[RunExecutor]:
        """Open the resources that the runs share, closed at the end of the context.

        Raises GreenloopError: they cannot be opened.
        """
        ...


@dataclass(frozen=True)
class LocalRunExecutor:
    """Executor of runs in this process, with one sandbox."""

    settings: Settings
    resources: SharedResources
    sandbox: Sandbox
    slots: threading.Semaphore

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        sandbox = ThrottledSandbox(self.sandbox, self.slots)
        resources = replace(self.resources, sandbox=sandbox)
        agent = CodingAgent(self.settings, resources=resources, emit=emit)
        if directory.request_file.exists():
            return await agent.resume(directory)
        return await agent.run(request, directory.path)

    async def cost(self) -> float | None:
        return self.resources.shared_budget.cost if self.resources.shared_budget else None


def create_local_run_executor(
    settings: Settings, resources: SharedResources, concurrency: int, stack: ExitStack
) -> LocalRunExecutor:
    """Open model, tracing and a sandbox with `concurrency` slots besides the shared `resources`.

    Raises SandboxError or ModelFailure: one of them cannot be opened.
    """
    sandbox = stack.enter_context(open_sandbox(settings))
    sources = tuple(open_sources(settings))
    tracing = open_tracing()
    stack.callback(tracing.close)
    shared = replace(resources, sources=sources, tracing=tracing)
    return LocalRunExecutor(settings, shared, sandbox, threading.Semaphore(concurrency))


@dataclass(frozen=True)
class LocalExecutor:
    """Executor of all runs concurrently in this process."""

    @asynccontextmanager
    async def open(self, config: BatchConfig) -> AsyncIterator[RunExecutor]:
        settings = config.settings
        limits = LocalRateLimits(
            config.jobs * 2, config.requests_per_minute, config.tokens_per_minute
        )
        total = Budget(max_tokens=settings.max_tokens, max_cost=settings.max_cost)
        with ExitStack() as stack:
            concurrency = max(2, os.cpu_count() or 1)
            executor = create_local_run_executor(
                settings, SharedResources(limits=limits, shared_budget=total), concurrency, stack
            )
            gc.freeze()  # else each full collection visits all that the imported packages define
            stack.callback(gc.unfreeze)
            yield executor
