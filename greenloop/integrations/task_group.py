"""Runs of a host: each ends in order when its call is cancelled, and all of them when the server is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class RunTaskGroup:
    """The runs that are under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run_to_completion(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Awaits the work. Cancelled, it cancels the work once and waits until that has ended.

        The MCP SDK cancels at each await anew (anyio), a run has to be told once (asyncio).
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
                task.exception()  # looked at: nobody waits for it any more
            raise

    async def stop(self) -> None:
        """Cancels all, and waits until they have ended."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
