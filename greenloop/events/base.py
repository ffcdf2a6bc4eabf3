"""What every event is, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Base of all events."""


EventSink = Callable[[Event], None]


def ignore_event(_event: Event) -> None:
    """The listener that listens to nothing."""
