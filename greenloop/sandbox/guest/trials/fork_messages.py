"""What a fork says to the process that started it, and what it may use for a step."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

STEP, NOTE, VERDICT = b"s", b"n", b"v"
_MAX_TIMER_SECONDS = 1e6


@dataclass(frozen=True)
class StepLimits:
    """For one step: seconds of CPU, and seconds in which nothing at all happens."""

    cpu_s: float
    idle_s: float


class StepReporter:
    """What the work in a fork says while it goes on.

    The kernel ends it to the tick when a step's CPU time is over; who watches from outside, for
    code that stops that clock, comes late on a busy machine.
    """

    def __init__(self, pipe: int, step_limits: Callable[[int], StepLimits]) -> None:
        self._pipe, self._step_limits = pipe, step_limits

    def __call__(self, step: int) -> None:
        write_message(self._pipe, STEP, str(step))
        signal.setitimer(signal.ITIMER_PROF, min(self._step_limits(step).cpu_s, _MAX_TIMER_SECONDS))

    def note(self, text: str) -> None:
        """A line that is known even if the work never comes to its end."""
        write_message(self._pipe, NOTE, text)


def write_message(pipe: int, kind: bytes, text: str) -> None:
    """One line."""
    os.write(pipe, kind + text.encode() + b"\n")
