"""Where the runs of a batch go on. The batch keeps the books; an engine has the runs made."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from greenloop.agent import CodingAgent
from greenloop.events import Emit, ignore
from greenloop.llm.budget import Ledger
from greenloop.llm.factory import open_sources
from greenloop.llm.rate_limits import CallLimits
from greenloop.records import Report
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.views.throttled import SharedSandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import open_tracing
from greenloop.workflow.setup.runtime import Parts
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class Terms:
    """What all runs of a batch are held to: conversations at once, requests and tokens a minute.

    The budgets are those of the settings.
    """

    settings: Settings
    jobs: int = 4
    requests: int | None = None
    tokens: int | None = None
    emit: Emit = ignore


class Runs(Protocol):
    """An engine at work."""

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: Emit = ignore
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


class Engine(Protocol):
    """Has the runs of a batch made."""

    def opened(self, terms: Terms) -> AbstractAsyncContextManager[Runs]:
        """Opens what the runs share, and closes it.

        Raises:
            GreenloopError: nothing can be begun.
        """
        ...


@dataclass(frozen=True)
class RunsHere:
    """Runs in this process, over one sandbox."""

    settings: Settings
    shared: Parts
    box: TestingSandbox
    slots: threading.Semaphore

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: Emit = ignore
    ) -> Report:
        sandbox = SharedSandbox(self.box, self.slots)
        parts = replace(self.shared, sandbox=sandbox)
        agent = CodingAgent(self.settings, parts=parts, emit=emit)
        if directory.request_file.exists():
            return await agent.resume(directory)
        return await agent.run(request, directory.path)

    async def cost(self) -> float | None:
        return self.shared.total.cost if self.shared.total else None


def runs_here(settings: Settings, parts: Parts, at_once: int, stack: ExitStack) -> RunsHere:
    """Runs that share `parts`, a model, tracers, and a sandbox in which so many go on `at_once`.

    Raises:
        SandboxError, ModelFailure: one of them cannot be had.
    """
    box = stack.enter_context(open_sandbox(settings))
    assert isinstance(box, TestingSandbox)
    tracing = open_tracing()
    stack.callback(tracing.close)
    shared = replace(parts, sources=tuple(open_sources(settings)), tracing=tracing)
    return RunsHere(settings, shared, box, threading.Semaphore(at_once))


@dataclass(frozen=True)
class LocalEngine:
    """All runs in this process, side by side."""

    @asynccontextmanager
    async def opened(self, terms: Terms) -> AsyncIterator[Runs]:
        settings = terms.settings
        limits = CallLimits(terms.jobs * 2, terms.requests, terms.tokens)
        total = Ledger(max_tokens=settings.max_tokens, max_cost=settings.max_cost)
        with ExitStack() as stack:
            at_once = max(2, os.cpu_count() or 1)
            yield runs_here(settings, Parts(limits=limits, total=total), at_once, stack)
