"""Telling what is done here, without the model, while it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from greenloop.events import Event, EventSink, WorkEnded, WorkStarted


@contextmanager
def progress_span(emit: EventSink, name: str) -> Iterator[None]:
    """Tells that it begins, and that it ended, however it did."""
    emit(WorkStarted(name))
    try:
        yield
    finally:
        emit(WorkEnded(name))


def create_thread_safe_sink(emit: EventSink) -> EventSink:
    """Called in any thread, it tells in that of the running loop: listeners know one thread only."""
    loop = asyncio.get_running_loop()

    def tell(event: Event) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody listens any more
            loop.call_soon_threadsafe(emit, event)

    return tell
