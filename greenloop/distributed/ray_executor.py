"""The executor of batches on the nodes of a Ray cluster.

The command's process keeps the queue, the results, the totals and the outputs. One worker per node
executes the runs, in directories that all nodes see. The runs of a lost worker are repeated on
another one from their logs, so that no answer is paid for twice.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.batch.executor import BatchConfig, RunExecutor
from greenloop.distributed.ray_cluster import connect_to_ray, require_ray, resolve_address
from greenloop.distributed.shared_budget import SharedBudget
from greenloop.distributed.worker import WorkerConfig
from greenloop.distributed.worker_pool import WorkerPool, WorkerSlot
from greenloop.errors import GreenloopError, InputError, SandboxError
from greenloop.events import EventSink, ignore_event
from greenloop.llm.model_selection import choose_model
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.request import RunRequest, digest, with_absolute_replay
from greenloop.workflow.storage.run_dir import RunDirectory

_MAX_ATTEMPTS = 4  # of one run, each on a new worker
_NAME_TAKEN_TIMEOUT_SECONDS = 10.0  # the budget actor of a killed batch exists for a few seconds
_NAMESPACE = "greenloop"


def create_executor(address: str | None, folder: Path) -> "RayExecutor":
    """Return the executor that is registered as `ray`. Raises InputError without Ray."""
    require_ray()
    return RayExecutor(resolve_address(address), folder)


@dataclass(frozen=True)
class RayExecutor:
    """Executor of a batch on a cluster, whose nodes share the batch's folder."""

    address: str | None  # None: a temporary cluster on this machine
    folder: Path

    @asynccontextmanager
    async def open(self, config: BatchConfig) -> AsyncIterator[RunExecutor]:
        async with AsyncExitStack() as stack:
            ray = stack.enter_context(connect_to_ray(self.address, _NAMESPACE))
            marker = stack.enter_context(_create_marker(self.folder))
            budget = await _start_shared_budget(
                ray, config, f"greenloop-{digest(str(self.folder))[:16]}"
            )
            settings = _make_settings_portable(config.settings)
            worker_config = WorkerConfig(settings, budget, 1, greenloop_version(), marker)
            pool = WorkerPool(ray, worker_config, config.jobs, config.emit)
            stack.callback(ray.kill, budget, no_restart=True)
            stack.push_async_callback(pool.close)
            await pool.open()
            yield RayRunExecutor(ray, pool, budget)


@dataclass(frozen=True)
class RayRunExecutor:
    """Executor of runs on a pool of workers. `ray` is the module, `shared_budget` the actor."""

    ray: Any
    pool: WorkerPool
    shared_budget: Any

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: EventSink = ignore_event
    ) -> Report:
        for number in range(1, _MAX_ATTEMPTS + 1):
            ended = await self._attempt_run(f"{directory.path.name}-{number}", request, directory)
            if ended is None:
                continue
            if isinstance(ended, GreenloopError):
                raise ended
            return ended
        raise GreenloopError(f"its worker was lost {_MAX_ATTEMPTS} times; the last log is kept")

    async def cost(self) -> float | None:
        cost: float | None = await self.pool.await_budget(self.shared_budget.cost.remote())
        return cost

    async def _attempt_run(
        self, name: str, request: RunRequest, directory: RunDirectory
    ) -> Report | GreenloopError | None:
        """Return how the run ended; None if its worker was lost."""
        worker = await self.pool.acquire()
        lost = False
        try:
            await self.pool.await_budget(self.shared_budget.open_account.remote(name))
            ended = await self._run_on_worker(worker, name, request, directory)
            lost = ended is None
        finally:
            self.shared_budget.close_account.remote(name, is_lost=lost)
            if lost:
                self.pool.discard(worker)
            else:
                self.pool.release(worker)
        return ended

    async def _run_on_worker(
        self, worker: WorkerSlot, name: str, request: RunRequest, directory: RunDirectory
    ) -> Report | GreenloopError | None:
        errors = self.ray.exceptions
        reference = worker.actor.run.remote(name, request, directory.path)
        try:
            ended: Report | GreenloopError = await reference
        except asyncio.CancelledError:
            self.ray.cancel(reference)
            raise
        except (errors.RayTaskError, errors.TaskCancelledError) as error:
            # A defect of greenloop on the node: it ends only this run.
            cause = getattr(error, "cause", None)  # else the last line is that of its traceback
            text = repr(cause) if cause else str(error).strip().rpartition("\n")[2]
            raise RuntimeError(text) from None
        except errors.RayError:
            return None
        return ended


async def _start_shared_budget(ray: Any, config: BatchConfig, name: str) -> Any:
    """Start the actor with budget and rate limits, on the node of this process.

    Raises InputError: an actor of that name exists: another process runs this batch.
    """
    settings = config.settings
    limits = {
        "max_tokens": settings.max_tokens,
        "max_cost": settings.max_cost,
        "requests_per_minute": config.requests_per_minute,
        "tokens_per_minute": config.tokens_per_minute,
    }
    here = ray.get_runtime_context().get_node_id()
    at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
    options = {"name": name, "num_cpus": 0, "max_concurrency": config.jobs * 4 + 8}
    make = ray.remote(SharedBudget).options(scheduling_strategy=at, **options)
    deadline = asyncio.get_running_loop().time() + _NAME_TAKEN_TIMEOUT_SECONDS
    while True:
        try:
            return make.remote(**limits)
        except ValueError:
            if asyncio.get_running_loop().time() > deadline:
                raise InputError(f"another process works on this batch ({name})") from None
        await asyncio.sleep(0.5)


def _make_settings_portable(settings: Settings) -> Settings:
    """Return settings that are valid on every node: model chosen, paths absolute."""
    changed: dict[str, Any] = {"home": settings.home.absolute()}
    if not settings.is_model_disabled:
        choice = choose_model(settings)
        base_url = choice.base_url or settings.openai_base_url
        changed |= {"model": with_absolute_replay(choice.name), "openai_base_url": base_url}
    return settings.model_copy(update=changed)


@contextlib.contextmanager
def _create_marker(folder: Path) -> Iterator[Path]:
    """Create a file by which a node checks that it shares the folder."""
    marker = folder / f".seen-by-all-{secrets.token_hex(8)}"
    try:
        marker.touch()
    except OSError as error:
        raise SandboxError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        yield marker
    finally:
        marker.unlink(missing_ok=True)
