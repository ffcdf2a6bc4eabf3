"""The workers of a batch, one on each node with a free CPU; nodes may join and leave."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.distributed.worker import Worker, WorkerConfig
from greenloop.errors import GreenloopError, SandboxError
from greenloop.events import EventSink, Notice

_NODE_POLL_SECONDS = 5.0  # between two listings of the nodes
_NODE_WAIT_SECONDS = 60.0  # for a node, if none is left
_STARTUP_SECONDS = 60.0  # for nodes that start later than the first
_POLL_SECONDS, _BUDGET_TIMEOUT_SECONDS = 0.5, 60.0
_MAX_STARTS_PER_NODE = 3  # after which a node is not used again
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class Node:
    """A node of the cluster, with the CPUs that Ray may use."""

    id: str
    address: str
    cpus: int


@dataclass
class WorkerSlot:
    """A started worker and the number of its active runs."""

    node: Node
    actor: Any
    active_runs: int = 0


def parse_nodes(ray_nodes: list[dict[str, Any]]) -> list[Node]:
    """Return the live nodes with at least one CPU, from Ray's list."""
    return [
        Node(item["NodeID"], item["NodeManagerAddress"], int(item["Resources"]["CPU"]))
        for item in ray_nodes
        if item["Alive"] and item["Resources"].get("CPU", 0) >= 1
    ]


@dataclass
class WorkerPool:
    """One worker per node; the least busy is used, lost ones are dropped. `ray` is the module."""

    ray: Any
    config: WorkerConfig
    jobs: int
    emit: EventSink
    _workers: dict[str, WorkerSlot] = field(default_factory=dict)
    _starting: dict[Node, asyncio.Task[None]] = field(default_factory=dict)
    _start_counts: Counter[str] = field(default_factory=Counter)
    _last_poll: float = float("-inf")
    _opened_at: float = 0.0
    _has_reported_busy: bool = False
    _start_error: GreenloopError | None = None
    _pending_notices: list[str] = field(default_factory=list)
    _fatal_error: GreenloopError | None = None

    async def open(self) -> None:
        """Start workers on all nodes; wait for the first. Raises as `acquire` does."""
        self._opened_at = time.monotonic()
        self.release(await self.acquire())

    async def acquire(self) -> WorkerSlot:
        """Return the worker with the fewest runs per CPU, and count one more run for it.

        Waits while other programs use all CPUs.
        Raises GreenloopError: no node is left, or no worker can be started.
        """
        since = time.monotonic()
        while True:
            if self._fatal_error is not None:
                raise self._fatal_error
            await self._start_missing_workers()
            worker = self._pick_worker()
            if worker is not None:
                worker.active_runs += 1
                return worker
            late = time.monotonic() - since > _NODE_WAIT_SECONDS
            if late and not self._workers:
                await self.await_budget(self.config.shared_budget.flush.remote())
            if self._starting:
                await self._wait_for_start(late)
            elif self._start_error is not None:
                raise self._start_error
            elif late:
                raise SandboxError("the Ray cluster has no node with a free CPU")
            else:
                await asyncio.sleep(_POLL_SECONDS)

    async def await_budget(self, reference: Any) -> Any:
        """Return the answer of the budget actor.

        Raises SandboxError: the actor was lost, with the node of this process.
        """
        try:
            return await asyncio.wait_for(reference, _BUDGET_TIMEOUT_SECONDS)
        except (self.ray.exceptions.RayError, asyncio.TimeoutError):
            self._fatal_error = SandboxError("the command's own node of the Ray cluster was lost")
            raise self._fatal_error from None

    def release(self, worker: WorkerSlot) -> None:
        """Count one run less for the worker, and clear the failed starts of its node."""
        worker.active_runs -= 1
        self._start_counts[worker.node.id] = 0

    def discard(self, worker: WorkerSlot) -> None:
        """Drop a worker whose process or node died or cannot be reached."""
        worker.active_runs -= 1
        if self._workers.get(worker.node.id) is worker:
            del self._workers[worker.node.id]
            self._last_poll = float("-inf")
            self.emit(
                Notice(
                    f"a worker was lost at {worker.node.address}: its runs continue from their logs"
                )
            )
        self.ray.kill(worker.actor, no_restart=True)  # it may still run behind a broken connection

    async def close(self) -> None:
        """Stop all workers; cancelled runs have a few seconds to save their reports."""
        starts = list(self._starting.values())
        for task in starts:
            task.cancel()
        closing = [
            asyncio.ensure_future(item.actor.close.remote()) for item in self._workers.values()
        ]
        if starts or closing:
            await asyncio.wait([*starts, *closing], timeout=_CLOSE_SECONDS)
        for worker in self._workers.values():
            self.ray.kill(worker.actor, no_restart=True)

    def _pick_worker(self) -> WorkerSlot | None:
        """Return the least busy worker; during startup, leave a share for nodes still starting."""
        worker = min(
            self._workers.values(),
            key=lambda item: (item.active_runs + 1) / item.node.cpus,
            default=None,
        )
        if worker is None or time.monotonic() - self._opened_at > _STARTUP_SECONDS:
            return worker
        starting = sum(node.cpus for node in self._starting)
        started = sum(item.node.cpus for item in self._workers.values())
        share = math.ceil(self.jobs * worker.node.cpus / (starting + started))
        return worker if worker.active_runs < share or not starting else None

    async def _wait_for_start(self, late: bool) -> None:
        """Wait briefly, at most until a worker has started."""
        tasks = self._starting.values()
        await asyncio.wait(tasks, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if late and not self._workers and not self._has_reported_busy:
            self._has_reported_busy = True
            self.emit(Notice("all CPUs of the Ray cluster are in use: waiting for one"))

    async def _start_missing_workers(self) -> None:
        """Start a worker on each node without one."""
        if time.monotonic() - self._last_poll < _NODE_POLL_SECONDS:
            return
        self._last_poll = time.monotonic()
        nodes = parse_nodes(await asyncio.to_thread(self.ray.nodes))
        for node in nodes:
            if node.id in self._workers or node in self._starting:
                continue
            if self._start_counts[node.id] < _MAX_STARTS_PER_NODE:
                self._start_counts[node.id] += 1
                self._starting[node] = asyncio.ensure_future(self._start_worker(node))
            elif self._start_error is None:
                self._start_error = SandboxError(
                    f"every worker on Ray's node {node.address} was lost"
                )

    async def _start_worker(self, node: Node) -> None:
        at = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        make: Callable[..., Any] = self.ray.remote(Worker).options
        options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": self.jobs + 8}
        actor = make(**options, scheduling_strategy=at(node.id, soft=False)).remote()
        try:
            error = await actor.open.remote(replace(self.config, concurrency=node.cpus))
        except self.ray.exceptions.RayError as problem:
            error = SandboxError(_last_line(problem))
        except asyncio.CancelledError:
            self.ray.kill(actor, no_restart=True)
            raise
        else:
            if error is None:
                self._workers[node.id], self._start_error = WorkerSlot(node, actor), None
                self._emit_notices()
                return
            self._start_counts[node.id] = _MAX_STARTS_PER_NODE  # a retry would fail again
        finally:
            del self._starting[node]
        self.ray.kill(actor, no_restart=True)
        if self._start_counts[node.id] >= _MAX_STARTS_PER_NODE:  # it is not used again
            error.args = (f"Ray's node {node.address}: {error}",)
            self._start_error = error
            self._pending_notices.append(str(error))
            self._emit_notices()

    def _emit_notices(self) -> None:
        """Emit notices on unusable nodes, if a worker is left; else the error ends the batch."""
        while self._workers and self._pending_notices:
            self.emit(Notice(self._pending_notices.pop(0)))


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
