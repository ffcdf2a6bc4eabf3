"""Tasks of active runs, cancelled once and awaited to their end."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class RunTaskGroup:
    """Group of the tasks of active runs."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run_to_completion(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a run. If cancelled, cancel the run once and wait until it has ended.

        The MCP SDK (anyio) repeats a cancellation at each await; a run (asyncio) expects it once.
        """
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # mark the exception as retrieved
            raise

    async def stop(self) -> None:
        """Cancel all runs, and wait until they have ended."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
