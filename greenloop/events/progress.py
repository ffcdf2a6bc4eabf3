"""Telling what is done here, without the model, while it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from greenloop.events import Emit, Event, WorkEnded, WorkStarted


@contextmanager
def at_work(emit: Emit, name: str) -> Iterator[None]:
    """Tells that it begins, and that it ended, however it did."""
    emit(WorkStarted(name))
    try:
        yield
    finally:
        emit(WorkEnded(name))


def from_threads(emit: Emit) -> Emit:
    """Called in any thread, it tells in that of the running loop: listeners know one thread only."""
    loop = asyncio.get_running_loop()

    def tell(event: Event) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody listens any more
            loop.call_soon_threadsafe(emit, event)

    return tell
