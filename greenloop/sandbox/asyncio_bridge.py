"""Sandbox work from an event loop, so that a cancelled run leaves nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from greenloop.sandbox.api import Sandbox

T = TypeVar("T")
_INTERRUPT_INTERVAL_SECONDS = 0.05


async def run_in_sandbox_thread(sandbox: Sandbox, blocking_call: Callable[[], T]) -> T:
    """Does blocking work that uses `box`. When cancelled, every run that it still starts is ended."""
    task = asyncio.ensure_future(asyncio.to_thread(blocking_call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            sandbox.interrupt()
            await asyncio.wait({task}, timeout=_INTERRUPT_INTERVAL_SECONDS)
        task.exception()  # looked at: what an interrupted run raises is of no interest
        raise
