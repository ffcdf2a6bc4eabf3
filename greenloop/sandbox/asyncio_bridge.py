"""Blocking sandbox work in an event loop; a cancelled task leaves nothing running."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from greenloop.sandbox.base import Sandbox

T = TypeVar("T")


async def run_in_sandbox_thread(sandbox: Sandbox, blocking_call: Callable[[], T]) -> T:
    """Run a call that uses a sandbox in a thread; when cancelled, interrupt all that it starts."""
    task = asyncio.ensure_future(asyncio.to_thread(blocking_call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with sandbox.interrupt_runs():
            await asyncio.wait({task})
        task.exception()  # retrieved, so that asyncio does not report it
        raise
