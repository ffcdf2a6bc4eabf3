"""Progress of an MCP call: a line for each event of the run, and a heartbeat between them."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from greenloop.events import Event, EventSink
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.messages import format_event

ProgressCallback = Callable[[int, str], Awaitable[None]]
_HEARTBEAT_SECONDS = 10.0  # clients time out without progress, usually after 60 s


@asynccontextmanager
async def forward_progress(report: ProgressCallback) -> AsyncIterator[EventSink]:
    """Yield a sink whose events, from any thread, are reported one after the other.

    At the end of the block all events have been reported, or `report` has failed. It gets an
    increasing number and the line.
    """
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def put(line: str | None) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def emit(event: Event) -> None:
        for line in format_event(event):
            put(sanitize_line(line))

    forwarding = asyncio.ensure_future(_forward_lines(lines, report))
    try:
        yield emit
        put(None)
        with suppress(Exception):  # a line that cannot be sent costs no result, which is paid for
            await forwarding
    finally:
        forwarding.cancel()


async def _forward_lines(lines: asyncio.Queue[str | None], report: ProgressCallback) -> None:
    number, since = 0, time.monotonic()
    while True:
        number += 1
        try:
            line = await asyncio.wait_for(lines.get(), _HEARTBEAT_SECONDS)
        except asyncio.TimeoutError:  # not the built-in one before Python 3.11
            line = f"…        running for {time.monotonic() - since:.0f} s"
        if line is None:
            return
        await report(number, line)
