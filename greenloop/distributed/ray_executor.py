"""The runs of a batch on the nodes of a Ray cluster.

The command's own process keeps the books: which entries wait, results, totals, the files that are
handed over. A worker a node makes the runs, in directories that all nodes see. Where a worker is
lost, its runs are begun again elsewhere, and go on from their logs: what had been answered is not
paid for twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.batch.executor import BatchConfig, RunExecutor
from greenloop.distributed.object_store import ObjectStore
from greenloop.distributed.patience import patiently
from greenloop.distributed.ray_cluster import connect_to_ray
from greenloop.distributed.results_sync import ResultsSynchronizer
from greenloop.distributed.run_sync import relocate_report
from greenloop.distributed.shared_budget import BudgetLimits, SharedBudget
from greenloop.distributed.worker import RemoteRunResult, WorkerConfig
from greenloop.distributed.worker_pool import WorkerPool, WorkerSlot
from greenloop.errors import GreenloopError, InputError, SandboxError
from greenloop.events import EventSink, ignore_event
from greenloop.llm.factory import is_model_disabled
from greenloop.llm.model_selection import choose_model
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory

_MAX_ATTEMPTS = 4  # of one run, each on another worker than the one that was lost
_NAME_TAKEN_TIMEOUT_SECONDS = (
    10.0  # the purse of a batch that was just killed lives on for a moment
)
_NAMESPACE = "greenloop"


@dataclass(frozen=True)
class RayExecutor:
    """`address` is None for a cluster of this machine's own, for as long as the batch goes on.
    `folder` is the batch's: all nodes share it, or `bucket` is where they keep their runs."""

    address: str | None
    folder: Path
    object_store: ObjectStore | None = None

    @asynccontextmanager
    async def open(self, config: BatchConfig) -> AsyncIterator[RunExecutor]:
        where = self.object_store.url if self.object_store else str(self.folder)
        async with AsyncExitStack() as stack:
            ray = stack.enter_context(connect_to_ray(self.address, _NAMESPACE))
            mark = stack.enter_context(_create_marker(self.folder))
            purse = await _start_shared_budget(ray, config, f"greenloop-{digest(where)[:16]}")
            seen = None if self.object_store else mark
            settings = _make_settings_portable(config.settings)
            errand = WorkerConfig(settings, purse, 1, greenloop_version(), seen, self.object_store)
            crew = WorkerPool(ray, errand, config.jobs, config.emit)
            stack.callback(ray.kill, purse, no_restart=True)
            if self.object_store is not None:
                mirror = ResultsSynchronizer(self.object_store, self.folder, config.emit)
                await stack.enter_async_context(mirror.sync_in_background())
            stack.push_async_callback(crew.close)
            await crew.open()
            yield RayRunExecutor(ray, crew, purse, self.object_store)


@dataclass(frozen=True)
class RayRunExecutor:
    """Runs on the workers of a crew. `ray` is the module, `purse` the actor."""

    ray: Any
    pool: WorkerPool
    shared_budget: Any
    object_store: ObjectStore | None = None

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        for number in range(1, _MAX_ATTEMPTS + 1):
            ended = await self._attempt_run(f"{directory.path.name}-{number}", request, directory)
            if ended is None:
                continue
            ended = await self._fetch_run(ended, directory)
            if ended.error is not None:
                raise ended.error
            assert ended.report is not None
            return ended.report
        raise GreenloopError(f"its worker was lost {_MAX_ATTEMPTS} times; the last log is kept")

    async def cost(self) -> float | None:
        cost: float | None = await self.pool.await_budget(self.shared_budget.cost.remote())
        return cost

    async def _fetch_run(self, result: RemoteRunResult, directory: RunDirectory) -> RemoteRunResult:
        """The run's directory is here too, and its report says so."""
        if self.object_store is None:
            return result
        name = f"runs/{directory.path.name}"
        if result.pending_uploads is not None and result.error is not None:
            await asyncio.to_thread(result.pending_uploads.write_to, directory.path)
            result.error.args = (f"{result.error}; what it was answered is in {directory.path}",)
        else:
            await patiently(
                self.object_store.retry_seconds, self.object_store.fetch, name, directory.path
            )
        if result.report is None:
            return result
        report = relocate_report(
            result.report, f"{self.object_store.url}/{name}", str(directory.path)
        )
        directory.save_report(report)
        if result.error is not None:
            result.error.report = report
        return RemoteRunResult(report, result.error)

    async def _attempt_run(
        self, name: str, request: RunRequest, directory: RunDirectory
    ) -> RemoteRunResult | None:
        """How the run ended; None where its worker was lost."""
        hand = await self.pool.acquire()
        lost = False
        try:
            await self.pool.await_budget(self.shared_budget.open_account.remote(name))
            ended = await self._run_on_worker(hand, name, request, directory)
            lost = ended is None
        finally:
            self.shared_budget.close_account.remote(name, is_lost=lost)
            if lost:
                self.pool.discard(hand)
            else:
                self.pool.release(hand)
        return ended

    async def _run_on_worker(
        self, worker: WorkerSlot, name: str, request: RunRequest, directory: RunDirectory
    ) -> RemoteRunResult | None:
        errors = self.ray.exceptions
        reference = worker.actor.run.remote(name, request, directory.path)
        try:
            ended: RemoteRunResult = await reference
        except asyncio.CancelledError:
            self.ray.cancel(reference)
            raise
        except (errors.RayTaskError, errors.TaskCancelledError) as error:
            # A mistake of ours, over there: it ends this run, and no other.
            raise RuntimeError(_describe_remote_error(error)) from None
        except errors.RayError:
            return None
        return ended


def _describe_remote_error(error: Exception) -> str:
    """Ray's text is the trace from over there: its last line says what went wrong."""
    cause = getattr(error, "cause", None)
    return repr(cause) if cause is not None else str(error).strip().rpartition("\n")[2]


async def _start_shared_budget(ray: Any, config: BatchConfig, name: str) -> Any:
    """The one actor that holds budgets and rates, in this process's node: it is lost with it alone.

    Raises:
        InputError: there is one of that name: the batch is under way.
    """
    settings = config.settings
    rations = BudgetLimits(
        settings.max_tokens, settings.max_cost, config.requests_per_minute, config.tokens_per_minute
    )
    here = ray.get_runtime_context().get_node_id()
    at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
    options = {"name": name, "num_cpus": 0, "max_concurrency": config.jobs * 4 + 8}
    make = ray.remote(SharedBudget).options(scheduling_strategy=at, **options)
    until = asyncio.get_running_loop().time() + _NAME_TAKEN_TIMEOUT_SECONDS
    while True:
        try:
            return make.remote(rations)
        except ValueError:
            if asyncio.get_running_loop().time() > until:
                raise InputError(f"another process works on this batch ({name})") from None
        await asyncio.sleep(0.5)


def _make_settings_portable(settings: Settings) -> Settings:
    """The settings as they mean the same on every node: the model chosen, its file found."""
    changed: dict[str, Any] = {"home": settings.home.absolute()}
    if not is_model_disabled(settings):
        choice = choose_model(settings)
        kind, _, rest = choice.name.partition(":")
        name = f"replay:{Path(rest).absolute()}" if kind == "replay" else choice.name
        changed |= {"model": name, "openai_base_url": choice.base_url or settings.openai_base_url}
    return settings.model_copy(update=changed)


@contextlib.contextmanager
def _create_marker(folder: Path) -> Iterator[Path]:
    """A file that a node has to see: then it sees the folder."""
    mark = folder / f".seen-by-all-{secrets.token_hex(8)}"
    try:
        mark.touch()
    except OSError as error:
        raise SandboxError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)
