"""Helpers that emit events around local work and from other threads."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from greenloop.events import Event, EventSink, WorkEnded, WorkStarted


@contextmanager
def progress_span(emit: EventSink, name: str) -> Iterator[None]:
    """Emit WorkStarted on entry and WorkEnded on exit, also after an exception."""
    emit(WorkStarted(name))
    try:
        yield
    finally:
        emit(WorkEnded(name))


def create_thread_safe_sink(emit: EventSink) -> EventSink:
    """Return a sink that any thread may call and that emits in the running event loop's thread."""
    loop = asyncio.get_running_loop()

    def emit_in_loop(event: Event) -> None:
        with suppress(RuntimeError):  # the loop is closed, and its listeners are gone
            loop.call_soon_threadsafe(emit, event)

    return emit_in_loop
