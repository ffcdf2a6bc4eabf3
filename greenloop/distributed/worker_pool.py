"""The workers of a batch, one on each node that lends a CPU; nodes come and go."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.distributed.worker import Errand, Worker
from greenloop.errors import GreenloopError, SandboxError
from greenloop.events import Emit, Notice

_LOOK_S = 5.0  # between two looks at which nodes there are
_PATIENCE_S = 60.0  # for a node, where none is left
_OPEN_S = 60.0  # for the nodes that are slower than the first
_POLL_S, _ANSWER_S = 0.5, 60.0
_HIRINGS = 3  # on one node, before it is given up
_CLOSE_S = 5.0


@dataclass(frozen=True)
class Node:
    """`cpus` are those that Ray was told of."""

    id: str
    address: str
    cpus: int


@dataclass
class Hand:
    """A worker at work. `busy` are its runs."""

    node: Node
    actor: Any
    busy: int = 0


def nodes_of(listed: list[dict[str, Any]]) -> list[Node]:
    """The living nodes with a CPU to lend, from Ray's list."""
    return [
        Node(item["NodeID"], item["NodeManagerAddress"], int(item["Resources"]["CPU"]))
        for item in listed
        if item["Alive"] and item["Resources"].get("CPU", 0) >= 1
    ]


@dataclass
class Crew:
    """Hires on each node, hands out the least busy, lets the lost go. `ray` is the module."""

    ray: Any
    errand: Errand
    jobs: int
    emit: Emit
    _hands: dict[str, Hand] = field(default_factory=dict)
    _hirings: dict[Node, asyncio.Task[None]] = field(default_factory=dict)
    _hired: Counter[str] = field(default_factory=Counter)
    _looked: float = float("-inf")
    _opened: float = 0.0
    _said_busy: bool = False
    _why_none: GreenloopError | None = None
    _untold: list[str] = field(default_factory=list)
    _gone: GreenloopError | None = None

    async def open(self) -> None:
        """Hires on all nodes; waits for the first of them. Raises as `take` does."""
        self._opened = time.monotonic()
        self.did(await self.take())

    async def take(self) -> Hand:
        """The worker with the fewest runs for its CPUs, with one run more from now on.

        Waits where all nodes are busy otherwise.

        Raises:
            GreenloopError: no node is left, or none can be worked on: why the last could not.
        """
        since = time.monotonic()
        while True:
            if self._gone is not None:
                raise self._gone
            await self._look()
            hand = self._free()
            if hand is not None:
                hand.busy += 1
                return hand
            late = time.monotonic() - since > _PATIENCE_S
            if late and not self._hands:
                await self.told(self.errand.purse.settled.remote())
            if self._hirings:
                await self._awaited(late)
            elif self._why_none is not None:
                raise self._why_none
            elif late:
                raise SandboxError("the Ray cluster has no node that lends a CPU")
            else:
                await asyncio.sleep(_POLL_S)

    async def told(self, reference: Any) -> Any:
        """The purse's answer. Without it nothing goes on: Ray makes no more workers for us either.

        Raises:
            SandboxError: it is gone, with the node of this process.
        """
        try:
            return await asyncio.wait_for(_awaited(reference), _ANSWER_S)
        except (self.ray.exceptions.RayError, asyncio.TimeoutError):
            self._gone = SandboxError("the command's own node of the Ray cluster was lost")
            raise self._gone from None

    def did(self, hand: Hand) -> None:
        """It has one run less, and its node is a good one."""
        hand.busy -= 1
        self._hired[hand.node.id] = 0

    def lost(self, hand: Hand) -> None:
        """Its process or its node died, or cannot be reached: it is not asked again."""
        hand.busy -= 1
        if self._hands.get(hand.node.id) is hand:
            del self._hands[hand.node.id]
            self._looked = float("-inf")
            self.emit(
                Notice(f"a worker was lost at {hand.node.address}: its runs go on from their logs")
            )
        self._end(hand.actor)  # it may be alive behind a broken line, and must not go on

    async def close(self) -> None:
        """Ends them all; cancelled runs get a moment to leave their reports."""
        hirings = list(self._hirings.values())
        for task in hirings:
            task.cancel()
        closing = [asyncio.ensure_future(_closed(item.actor)) for item in self._hands.values()]
        if hirings or closing:
            await asyncio.wait([*hirings, *closing], timeout=_CLOSE_S)
        for hand in self._hands.values():
            self._end(hand.actor)

    def _free(self) -> Hand | None:
        """The least busy. At the beginning those that are slower to come get their share too."""
        hand = min(
            self._hands.values(), key=lambda item: (item.busy + 1) / item.node.cpus, default=None
        )
        if hand is None or time.monotonic() - self._opened > _OPEN_S:
            return hand
        coming = sum(node.cpus for node in self._hirings)
        there = sum(item.node.cpus for item in self._hands.values())
        share = math.ceil(self.jobs * hand.node.cpus / (coming + there))
        return hand if hand.busy < share or not coming else None

    async def _awaited(self, late: bool) -> None:
        """Waits a moment, at most until a hiring has come to its end."""
        tasks = self._hirings.values()
        await asyncio.wait(tasks, timeout=_POLL_S, return_when=asyncio.FIRST_COMPLETED)
        if late and not self._hands and not self._said_busy:
            self._said_busy = True
            self.emit(Notice("all CPUs of the Ray cluster are taken: waiting for one"))

    async def _look(self) -> None:
        """Begins to hire where a node has no worker."""
        if time.monotonic() - self._looked < _LOOK_S:
            return
        self._looked = time.monotonic()
        nodes = nodes_of(await asyncio.to_thread(self.ray.nodes))
        for node in nodes:
            if node.id in self._hands or node in self._hirings:
                continue
            if self._hired[node.id] < _HIRINGS:
                self._hired[node.id] += 1
                self._hirings[node] = asyncio.ensure_future(self._hire(node))
            elif self._why_none is None:
                self._why_none = SandboxError(f"Ray's node {node.address} loses every worker")

    async def _hire(self, node: Node) -> None:
        actor = self._actor(node)
        try:
            error = await actor.open.remote(replace(self.errand, at_once=node.cpus))
        except self.ray.exceptions.RayError as problem:
            error = SandboxError(_last_line(problem))
        except asyncio.CancelledError:
            self._end(actor)
            raise
        else:
            if error is None:
                self._hands[node.id], self._why_none = Hand(node, actor), None
                self._tell()
                return
            self._hired[node.id] = _HIRINGS  # what the node itself says stays true
        finally:
            del self._hirings[node]
        self._end(actor)
        if self._hired[node.id] >= _HIRINGS:
            self._give_up(node, error)

    def _give_up(self, node: Node, error: GreenloopError) -> None:
        error.args = (f"Ray's node {node.address}: {error}",)
        self._why_none = error
        self._untold.append(str(error))
        self._tell()

    def _tell(self) -> None:
        """Of nodes that are passed over; where none is left, the last of them ends the batch."""
        while self._hands and self._untold:
            self.emit(Notice(self._untold.pop(0)))

    def _actor(self, node: Node) -> Any:
        at = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        make: Callable[..., Any] = self.ray.remote(Worker).options
        options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": self.jobs + 8}
        return make(**options, scheduling_strategy=at(node.id, soft=False)).remote()

    def _end(self, actor: Any) -> None:
        self.ray.kill(actor, no_restart=True)


async def _awaited(reference: Any) -> Any:
    return await reference


async def _closed(actor: Any) -> None:
    await actor.close.remote()


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
