"""A run's events as progress of an MCP call: a line each, and a sign of life while nothing happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from greenloop.events import Event, EventSink
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.messages import format_event

ProgressCallback = Callable[[int, str], Awaitable[None]]
_HEARTBEAT_SECONDS = 10.0  # hosts give up on a call of which they hear nothing; 60 s is usual


@asynccontextmanager
async def forward_progress(report: ProgressCallback) -> AsyncIterator[EventSink]:
    """Events that are emitted in the block, from any thread, are told one after the other.

    At its end all that happened has been told. `tell` gets a number that grows, and the line.
    """
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def put(line: str | None) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def emit(event: Event) -> None:
        for line in format_event(event):
            put(sanitize_line(line))

    telling = asyncio.ensure_future(_forward_lines(lines, report))
    try:
        yield emit
        put(None)
        await telling
    finally:
        telling.cancel()


async def _forward_lines(lines: asyncio.Queue[str | None], report: ProgressCallback) -> None:
    number, since = 0, time.monotonic()
    while True:
        number += 1
        try:
            line = await asyncio.wait_for(lines.get(), _HEARTBEAT_SECONDS)
        except asyncio.TimeoutError:  # not the built-in one before Python 3.11
            line = f"…        at work for {time.monotonic() - since:.0f} s"
        if line is None:
            return
        await report(number, line)
