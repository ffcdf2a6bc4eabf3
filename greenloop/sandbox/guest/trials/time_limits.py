"""Time limits of trials: of a step in a fork."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

STEP, NOTE, VERDICT = b"s", b"n", b"v"
_MAX_TIMER_SECONDS = 1e6


class StepLimits(NamedTuple):
    """Limits of one step: seconds of CPU time, and seconds without any activity."""

    cpu_s: float
    idle_s: float


NO_LIMITS = StepLimits(1e9, 1e9)


class StepReporter:
    """Reports from a fork to the process that started it.

    A kernel timer ends the fork when a step's CPU time is used up; the fork pool, which watches for
    code that stops the timer, reacts late on a busy machine.
    """

    def __init__(self, pipe: int, step_limits: Callable[[int], StepLimits]) -> None:
        self._pipe, self._step_limits = pipe, step_limits

    def __call__(self, step: int) -> None:
        """Report that a step begins."""
        write_message(self._pipe, STEP, str(step))
        signal.setitimer(signal.ITIMER_PROF, min(self._step_limits(step).cpu_s, _MAX_TIMER_SECONDS))

    def note(self, text: str) -> None:
        """Report a line, which counts even if the fork does not finish."""
        write_message(self._pipe, NOTE, text)


def write_message(pipe: int, kind: bytes, text: str) -> None:
    """Write one line to the pipe of a fork."""
    os.write(pipe, kind + text.encode() + b"\n")
