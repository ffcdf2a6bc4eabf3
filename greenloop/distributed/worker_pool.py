"""The workers of a batch, one on each node that lends a CPU; nodes come and go."""

from __future__ import annotations

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

_NODE_POLL_SECONDS = 5.0  # between two looks at which nodes there are
_NODE_WAIT_SECONDS = 60.0  # for a node, where none is left
_STARTUP_SECONDS = 60.0  # for the nodes that are slower than the first
_POLL_SECONDS, _BUDGET_TIMEOUT_SECONDS = 0.5, 60.0
_MAX_STARTS_PER_NODE = 3  # on one node, before it is given up
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class Node:
    """`cpus` are those that Ray was told of."""

    id: str
    address: str
    cpus: int


@dataclass
class WorkerSlot:
    """A worker at work. `busy` are its runs."""

    node: Node
    actor: Any
    active_runs: int = 0


def parse_nodes(ray_nodes: list[dict[str, Any]]) -> list[Node]:
    """The living nodes with a CPU to lend, from Ray's list."""
    return [
        Node(item["NodeID"], item["NodeManagerAddress"], int(item["Resources"]["CPU"]))
        for item in ray_nodes
        if item["Alive"] and item["Resources"].get("CPU", 0) >= 1
    ]


@dataclass
class WorkerPool:
    """Hires on each node, hands out the least busy, lets the lost go. `ray` is the module."""

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
        """Hires on all nodes; waits for the first of them. Raises as `take` does."""
        self._opened_at = time.monotonic()
        self.release(await self.acquire())

    async def acquire(self) -> WorkerSlot:
        """The worker with the fewest runs for its CPUs, with one run more from now on.

        Waits where all nodes are busy otherwise.

        Raises:
            GreenloopError: no node is left, or none can be worked on: why the last could not.
        """
        since = time.monotonic()
        while True:
            if self._fatal_error is not None:
                raise self._fatal_error
            await self._start_missing_workers()
            hand = self._pick_worker()
            if hand is not None:
                hand.active_runs += 1
                return hand
            late = time.monotonic() - since > _NODE_WAIT_SECONDS
            if late and not self._workers:
                await self.await_budget(self.config.shared_budget.flush.remote())
            if self._starting:
                await self._wait_for_start(late)
            elif self._start_error is not None:
                raise self._start_error
            elif late:
                raise SandboxError("the Ray cluster has no node that lends a CPU")
            else:
                await asyncio.sleep(_POLL_SECONDS)

    async def await_budget(self, reference: Any) -> Any:
        """The purse's answer. Without it nothing goes on: Ray makes no more workers for us either.

        Raises:
            SandboxError: it is gone, with the node of this process.
        """
        try:
            return await asyncio.wait_for(_await_reference(reference), _BUDGET_TIMEOUT_SECONDS)
        except (self.ray.exceptions.RayError, asyncio.TimeoutError):
            self._fatal_error = SandboxError("the command's own node of the Ray cluster was lost")
            raise self._fatal_error from None

    def release(self, worker: WorkerSlot) -> None:
        """It has one run less, and its node is a good one."""
        worker.active_runs -= 1
        self._start_counts[worker.node.id] = 0

    def discard(self, worker: WorkerSlot) -> None:
        """Its process or its node died, or cannot be reached: it is not asked again."""
        worker.active_runs -= 1
        if self._workers.get(worker.node.id) is worker:
            del self._workers[worker.node.id]
            self._last_poll = float("-inf")
            self.emit(
                Notice(
                    f"a worker was lost at {worker.node.address}: its runs go on from their logs"
                )
            )
        self._kill_actor(worker.actor)  # it may be alive behind a broken line, and must not go on

    async def close(self) -> None:
        """Ends them all; cancelled runs get a moment to leave their reports."""
        hirings = list(self._starting.values())
        for task in hirings:
            task.cancel()
        closing = [
            asyncio.ensure_future(_close_actor(item.actor)) for item in self._workers.values()
        ]
        if hirings or closing:
            await asyncio.wait([*hirings, *closing], timeout=_CLOSE_SECONDS)
        for hand in self._workers.values():
            self._kill_actor(hand.actor)

    def _pick_worker(self) -> WorkerSlot | None:
        """The least busy. At the beginning those that are slower to come get their share too."""
        hand = min(
            self._workers.values(),
            key=lambda item: (item.active_runs + 1) / item.node.cpus,
            default=None,
        )
        if hand is None or time.monotonic() - self._opened_at > _STARTUP_SECONDS:
            return hand
        coming = sum(node.cpus for node in self._starting)
        there = sum(item.node.cpus for item in self._workers.values())
        share = math.ceil(self.jobs * hand.node.cpus / (coming + there))
        return hand if hand.active_runs < share or not coming else None

    async def _wait_for_start(self, late: bool) -> None:
        """Waits a moment, at most until a hiring has come to its end."""
        tasks = self._starting.values()
        await asyncio.wait(tasks, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if late and not self._workers and not self._has_reported_busy:
            self._has_reported_busy = True
            self.emit(Notice("all CPUs of the Ray cluster are taken: waiting for one"))

    async def _start_missing_workers(self) -> None:
        """Begins to hire where a node has no worker."""
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
                self._start_error = SandboxError(f"Ray's node {node.address} loses every worker")

    async def _start_worker(self, node: Node) -> None:
        actor = self._create_actor(node)
        try:
            error = await actor.open.remote(replace(self.config, concurrency=node.cpus))
        except self.ray.exceptions.RayError as problem:
            error = SandboxError(_last_line(problem))
        except asyncio.CancelledError:
            self._kill_actor(actor)
            raise
        else:
            if error is None:
                self._workers[node.id], self._start_error = WorkerSlot(node, actor), None
                self._emit_notices()
                return
            self._start_counts[node.id] = (
                _MAX_STARTS_PER_NODE  # what the node itself says stays true
            )
        finally:
            del self._starting[node]
        self._kill_actor(actor)
        if self._start_counts[node.id] >= _MAX_STARTS_PER_NODE:
            self._abandon_node(node, error)

    def _abandon_node(self, node: Node, error: GreenloopError) -> None:
        error.args = (f"Ray's node {node.address}: {error}",)
        self._start_error = error
        self._pending_notices.append(str(error))
        self._emit_notices()

    def _emit_notices(self) -> None:
        """Of nodes that are passed over; where none is left, the last of them ends the batch."""
        while self._workers and self._pending_notices:
            self.emit(Notice(self._pending_notices.pop(0)))

    def _create_actor(self, node: Node) -> Any:
        at = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        make: Callable[..., Any] = self.ray.remote(Worker).options
        options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": self.jobs + 8}
        return make(**options, scheduling_strategy=at(node.id, soft=False)).remote()

    def _kill_actor(self, actor: Any) -> None:
        self.ray.kill(actor, no_restart=True)


async def _await_reference(reference: Any) -> Any:
    return await reference


async def _close_actor(actor: Any) -> None:
    await actor.close.remote()


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
