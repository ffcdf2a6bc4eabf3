"""Which node gets which run, and when none is left: with a stand-in for Ray, whose nodes obey."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.distributed.worker import WorkerConfig
from greenloop.distributed.worker_pool import WorkerPool
from greenloop.errors import GreenloopError, InputError, SandboxError
from greenloop.events import Event
from greenloop.settings import Settings
from greenloop.versions import greenloop_version


class RayError(Exception):
    """As Ray's: the actor or its node is lost."""


class StandIn:
    """As much of the module `ray` as a pool uses. `answers` are those of `Worker.open`, by node."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.opened, self.killed = answers, [], []  # type: ignore[var-annotated]
        self.ready = {name: asyncio.Event() for name in answers}
        self.budget_lost = False
        self.exceptions = SimpleNamespace(RayError=RayError)
        at = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda id, soft: id)
        self.util = SimpleNamespace(scheduling_strategies=at)

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": name, "NodeManagerAddress": name, "Alive": True, "Resources": {"CPU": 2.0}}
            for name in self.answers
        ]

    def remote(self, _kind: type) -> Any:
        def options(scheduling_strategy: str, **_others: Any) -> Any:
            return SimpleNamespace(remote=lambda: self._actor(scheduling_strategy))

        return SimpleNamespace(options=options)

    def kill(self, actor: Any, no_restart: bool) -> None:
        self.killed.append(actor.node)

    def _actor(self, node: str) -> Any:
        async def open_worker(_config: WorkerConfig) -> GreenloopError | None:
            self.opened.append(node)
            await self.ready[node].wait()
            answer = self.answers[node]
            if isinstance(answer, RayError):
                raise answer
            return answer  # type: ignore[no-any-return]

        return SimpleNamespace(node=node, open=SimpleNamespace(remote=open_worker))

    @property
    def budget(self) -> Any:
        async def settle() -> None:
            if self.budget_lost:
                raise RayError("the budget is gone")

        return SimpleNamespace(flush=SimpleNamespace(remote=settle))


def pool_on(ray: StandIn, said: list[Event], jobs: int = 4) -> WorkerPool:
    config = WorkerConfig(Settings.load(), ray.budget, 1, greenloop_version(), Path())
    return WorkerPool(ray, config, jobs, said.append)


def test_a_slow_node_gets_its_share_of_the_first_runs() -> None:
    async def body() -> None:
        ray = StandIn(quick=None, slow=None)
        ray.ready["quick"].set()
        pool = pool_on(ray, [])
        await pool.open()
        first = [(await pool.acquire()).node.id for _ in range(2)]
        third = asyncio.ensure_future(pool.acquire())
        await asyncio.sleep(0.1)
        assert (first, third.done()) == (["quick", "quick"], False)
        ray.ready["slow"].set()
        assert (await third).node.id == "slow"
        assert (await pool.acquire()).node.id == "slow"

    asyncio.run(body())


@pytest.mark.parametrize("first", ["good", "bad"])
def test_a_node_that_cannot_be_worked_on_is_named_and_passed_over(first: str) -> None:
    async def body() -> None:
        said: list[Event] = []
        ray = StandIn(good=None, bad=InputError("no folder there"))
        ray.ready[first].set()
        pool = pool_on(ray, said)
        opening = asyncio.ensure_future(pool.open())
        await asyncio.sleep(0.1)
        for ready in ray.ready.values():
            ready.set()
        await opening
        assert [(await pool.acquire()).node.id for _ in range(4)] == ["good"] * 4
        assert str(said).count("Ray's node bad: no folder there") == 1

    asyncio.run(body())


def test_where_no_node_can_be_worked_on_the_last_says_why() -> None:
    async def body() -> None:
        ray = StandIn(bad=InputError("no folder there"))
        ray.ready["bad"].set()
        with pytest.raises(InputError, match="Ray's node bad: no folder there"):
            await pool_on(ray, []).open()

    asyncio.run(body())


def test_a_lost_worker_is_hired_anew_and_is_not_asked_again() -> None:
    async def body() -> None:
        said: list[Event] = []
        ray = StandIn(only=None)
        ray.ready["only"].set()
        pool = pool_on(ray, said)
        await pool.open()
        one, two = await pool.acquire(), await pool.acquire()
        assert one is two
        pool.discard(one)
        pool.discard(two)
        assert await pool.acquire() is not one
        assert (ray.opened, set(ray.killed)) == (["only", "only"], {"only"})
        assert str(said).count("a worker was lost") == 1

    asyncio.run(body())


def test_without_the_budget_nobody_waits_for_a_worker() -> None:
    async def body() -> None:
        ray = StandIn(only=None)
        ray.ready["only"].set()
        pool = pool_on(ray, [])
        await pool.open()
        ray.budget_lost = True
        with pytest.raises(SandboxError, match="own node"):
            await pool.await_budget(pool.config.shared_budget.flush.remote())
        with pytest.raises(SandboxError, match="own node"):
            await pool.acquire()

    asyncio.run(body())
