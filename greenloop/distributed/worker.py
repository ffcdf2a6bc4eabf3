"""The worker on a node: many runs at once in one warm sandbox, as a Ray actor."""

import asyncio
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.batch.executor import LocalRunExecutor, create_local_run_executor
from greenloop.distributed.shared_budget import RemoteBudget, limit_remotely
from greenloop.errors import GreenloopError, InputError
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.setup.runtime import SharedResources
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory

_LOCK_TIMEOUT_SECONDS = 120.0  # a file server releases a dead node's locks after about 90 s
_POLL_SECONDS = 0.2
_CLOSE_SECONDS = 2.0


@dataclass(frozen=True)
class WorkerConfig:
    """Configuration of a worker.

    The settings hold the model's key. They are passed as an argument of one call, in memory, and
    never in the description of an actor, which Ray stores. `marker` is a file in the batch's folder
    that a node sees if it shares this folder.
    """

    settings: Settings
    shared_budget: Any
    concurrency: int
    version: str
    marker: Path


class Worker:
    """A worker. Its methods are called from another process; `open` is called first."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._config: WorkerConfig | None = None
        self._executor: LocalRunExecutor | None = None
        self._active_runs = 0

    async def open(self, config: WorkerConfig) -> GreenloopError | None:
        """Prepare the node; return the error that prevents it, or None."""
        if greenloop_version() != config.version:
            return InputError(
                f"greenloop is {greenloop_version()} there, and {config.version} here"
            )
        if not config.marker.exists():
            return InputError(
                f"{config.marker.parent} does not exist there: --run-dir has to name a folder that all "
                "nodes share"
            )
        self._config = config
        try:
            self._executor = await asyncio.to_thread(
                create_local_run_executor,
                config.settings,
                SharedResources(),
                config.concurrency,
                self._stack,
            )
        except GreenloopError as error:
            self._stack.close()
            return error
        return None

    async def run(self, name: str, request: RunRequest, path: Path) -> Report | GreenloopError:
        """Execute a run, or continue the one in its folder; `name` is its account in the budget.

        The error that ended the run is returned: it may hold a report.
        """
        assert self._config is not None
        self._active_runs += 1
        try:
            await _wait_for_lock(RunDirectory(path))
            return await self._run(name, request, RunDirectory(path))
        except GreenloopError as error:
            return error
        finally:
            await self._config.shared_budget.flush.remote()
            self._active_runs -= 1

    async def _run(self, name: str, request: RunRequest, directory: RunDirectory) -> Report:
        assert self._config is not None
        assert self._executor is not None
        budget = self._config.shared_budget
        limits = partial(limit_remotely, budget, name)
        total = RemoteBudget(shared_budget=budget, run=name)
        parts = replace(self._executor.resources, limits=limits, shared_budget=total)
        return await replace(self._executor, resources=parts).run(request, directory)

    async def close(self) -> None:
        """Wait briefly for cancelled runs, and close the sandbox."""
        for _ in range(int(_CLOSE_SECONDS / _POLL_SECONDS)):
            if self._active_runs:
                await asyncio.sleep(_POLL_SECONDS)
        await asyncio.to_thread(self._stack.close)


async def _wait_for_lock(directory: RunDirectory) -> None:
    """Wait for the lock of a run whose worker was lost.

    Raises InputError: another process still holds it after the timeout.
    """
    deadline = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    while directory.path.exists():
        try:
            with directory.lock():
                return
        except InputError:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_POLL_SECONDS)
