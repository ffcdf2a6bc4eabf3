"""Modules that a command loads while a job in the sandbox leaves it nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread

from greenloop.events import Event, EventSink, SandboxJobStarted


def load_beside_jobs(emit: EventSink, loads: Mapping[str, Callable[[], None]]) -> EventSink:
    """Return a sink that calls each of the functions when the first job of its kind starts.

    An error in one of them is left to the code that needs what it loads.
    """
    pending = dict(loads)

    def sink(event: Event) -> None:
        if isinstance(event, SandboxJobStarted) and (load := pending.pop(event.kind, None)):
            Thread(target=_ignore_errors, args=(load,), daemon=True).start()
        emit(event)

    return sink


def _ignore_errors(load: Callable[[], None]) -> None:
    with suppress(Exception):
        load()
