"""Ends a piece of work in this process when it has used its time: not sure to work, but cheap.

What catches everything, or hangs in a library written in C, has to be ended from outside.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

_REPEAT_SECONDS = 0.25  # time enough to tear things down


class CpuTimeExceeded(BaseException):
    """Raised wherever the work is then."""


class CpuTimeLimit:
    """`with Alarm(seconds) as alarm`: CPU seconds. `alarm.rang` says whether they were used up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_exceeded = False

    def __enter__(self) -> CpuTimeLimit:
        signal.signal(signal.SIGPROF, self._raise_exceeded)
        signal.setitimer(signal.ITIMER_PROF, self._seconds, _REPEAT_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return isinstance(error, CpuTimeExceeded)

    def _raise_exceeded(self, number: int, frame: FrameType | None) -> None:
        self.is_exceeded = True
        raise CpuTimeExceeded
