"""The worker on a node: many runs at once in one warm sandbox, as a Ray actor."""

import asyncio
import contextlib
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.batch.executor import LocalRunExecutor, create_local_run_executor
from greenloop.batch.results import RESULTS_FILE
from greenloop.distributed.object_store import ObjectStore, PendingUploads
from greenloop.distributed.run_sync import RunSynchronizer, limit_after_upload
from greenloop.distributed.shared_budget import RemoteBudget, limit_remotely
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.events import ignore_event
from greenloop.llm.rate_limits import RateLimits
from greenloop.records import Report
from greenloop.sandbox.backends.cleanup import create_temporary_folder, remove_folder
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
    never in the description of an actor, which Ray stores. Without an object store, `marker` is a
    file that a node sees if it shares the batch's folder.
    """

    settings: Settings
    shared_budget: Any
    concurrency: int
    version: str
    marker: Path | None = None
    object_store: ObjectStore | None = None


@dataclass(frozen=True)
class RemoteRunResult:
    """The result of a run: a report, or an error that may hold one."""

    report: Report | None = None
    error: GreenloopError | None = None
    pending_uploads: PendingUploads | None = None  # what the object store did not accept


class Worker:
    """A worker. Its methods are called from another process; `open` is called first."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._config: WorkerConfig | None = None
        self._executor: LocalRunExecutor | None = None
        self._folder = Path()
        self._active_runs = 0

    async def open(self, config: WorkerConfig) -> GreenloopError | None:
        """Prepare the node; return the error that prevents it, or None."""
        if greenloop_version() != config.version:
            return InputError(
                f"greenloop is {greenloop_version()} there, and {config.version} here"
            )
        if config.marker is not None and not config.marker.exists():
            return InputError(
                f"{config.marker.parent} does not exist there: --run-dir has to name a folder that all "
                "nodes share, or an object store"
            )
        self._config = config
        try:
            await asyncio.to_thread(self._open, config)
        except GreenloopError as error:
            self._stack.close()
            return error
        return None

    def _open(self, config: WorkerConfig) -> None:
        if config.object_store is not None and config.object_store.read(RESULTS_FILE) is None:
            raise InputError(
                f"{config.object_store.url} is a different store there: it has no {RESULTS_FILE}"
            )
        self._folder = create_temporary_folder()
        self._stack.callback(remove_folder, self._folder)
        self._executor = create_local_run_executor(
            config.settings, SharedResources(), config.concurrency, self._stack
        )

    async def run(self, name: str, request: RunRequest, path: Path) -> RemoteRunResult:
        """Execute a run, or continue the one in its folder; `name` is its account in the budget."""
        assert self._config is not None
        store = self._config.object_store
        self._active_runs += 1
        try:
            if store is None:
                await _wait_for_lock(RunDirectory(path))
                return await self._run_locally(name, request, RunDirectory(path))
            return await self._run_synchronized(store, name, request, path.name)
        except GreenloopError as error:
            return RemoteRunResult(error.report, error)
        finally:
            await self._config.shared_budget.flush.remote()
            self._active_runs -= 1

    async def _run_synchronized(
        self, object_store: ObjectStore, name: str, request: RunRequest, folder: str
    ) -> RemoteRunResult:
        """Execute a run whose directory is fetched from the object store, and stored afterwards."""
        run_sync = RunSynchronizer(object_store, f"runs/{folder}", self._folder / name / folder)
        await run_sync.fetch()
        try:
            ended = await self._run_locally(name, request, RunDirectory(run_sync.folder), run_sync)
            place = f"{object_store.url}/{run_sync.name}"
            ended = relocate_result(ended, str(run_sync.folder), place)
            with contextlib.suppress(OutputError):  # a full disk is reported by the run itself
                if ended.report is not None:
                    RunDirectory(run_sync.folder).save_report(ended.report)
        finally:
            missing = await run_sync.finish()
        return ended if missing is None else RemoteRunResult(ended.report, *missing)

    async def _run_locally(
        self,
        name: str,
        request: RunRequest,
        directory: RunDirectory,
        synchronizer: RunSynchronizer | None = None,
    ) -> RemoteRunResult:
        assert self._config is not None
        assert self._executor is not None
        budget = self._config.shared_budget
        limits: RateLimits = partial(limit_remotely, budget, name)
        total = RemoteBudget(shared_budget=budget, run=name)
        if synchronizer is not None:
            limits = partial(limit_after_upload, limits, synchronizer)
        parts = replace(self._executor.resources, limits=limits, shared_budget=total)
        runs = replace(self._executor, resources=parts)
        try:
            return RemoteRunResult(await runs.run(request, directory, synchronizer or ignore_event))
        except GreenloopError as error:
            return RemoteRunResult(error.report, error)

    async def close(self) -> None:
        """Wait briefly for cancelled runs, and close the sandbox."""
        for _ in range(int(_CLOSE_SECONDS / _POLL_SECONDS)):
            if self._active_runs:
                await asyncio.sleep(_POLL_SECONDS)
        await asyncio.to_thread(self._stack.close)


def relocate_result(result: RemoteRunResult, old: str, new: str) -> RemoteRunResult:
    """Return the result with the report's paths below `new` instead of `old`."""
    if result.report is None:
        return result
    artifacts = result.report.artifacts
    places = {
        key: new + value.removeprefix(old)
        for key, value in artifacts.model_dump().items()
        if isinstance(value, str) and value.startswith(old)
    }
    update = {"artifacts": artifacts.model_copy(update=places)}
    report = result.report.model_copy(update=update)
    if result.error is not None:
        result.error.report = report
    return RemoteRunResult(report, result.error)


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
