"""Sandbox work from an event loop, so that a cancelled run leaves nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from greenloop.sandbox.api import Sandbox

T = TypeVar("T")
_BETWEEN_S = 0.05


async def in_sandbox(box: Sandbox, work: Callable[[], T]) -> T:
    """Does blocking work that uses `box`. When cancelled, every run that it still starts is ended."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            box.interrupt()
            await asyncio.wait({task}, timeout=_BETWEEN_S)
        task.exception()  # looked at: what an interrupted run raises is of no interest
        raise
