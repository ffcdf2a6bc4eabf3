"""Base of the events, and the type of their receivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Base of all events."""


EventSink = Callable[[Event], None]


def ignore_event(_event: Event) -> None:
    """Drop an event."""
