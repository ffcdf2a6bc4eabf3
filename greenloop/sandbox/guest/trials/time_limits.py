"""Time limits of trials: of a step in a fork."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

STEP, NOTE, VERDICT = b"s", b"n", b"v"
_MAX_TIMER_SECONDS = 1e6
# Tests that use less CPU time than this share of their time mostly wait, on a busy machine too.
_WAITING_SHARE, MAX_TRIALS_PER_CORE = 1 / 8, 4


class StepLimits(NamedTuple):
    """Limits of one step: seconds of CPU time, and seconds without any activity."""

    cpu_s: float
    idle_s: float


NO_LIMITS = StepLimits(1e9, 1e9)


def count_trials_per_core(tests: Sequence[dict[str, Any]]) -> int:
    """Return how many trials one core can run at a time: several where the tests mostly wait.

    `tests` have their cost on the original code, `cpu_s` and `wall_s`.
    """
    cpu_s, wall_s = (sum(item[key] for item in tests) for key in ("cpu_s", "wall_s"))
    waiting = int(_WAITING_SHARE * wall_s / max(cpu_s, 1e-6))
    return max(1, min(waiting, MAX_TRIALS_PER_CORE))


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
