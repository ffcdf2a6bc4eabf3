"""Ends a piece of work in this process when it has used its time: not sure to work, but cheap.

What catches everything, or hangs in a library written in C, has to be ended from outside.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

_AGAIN_S = 0.25  # time enough to tear things down


class TimeIsUp(BaseException):
    """Raised wherever the work is then."""


class Alarm:
    """`with Alarm(seconds) as alarm`: CPU seconds. `alarm.rang` says whether they were used up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.rang = False

    def __enter__(self) -> Alarm:
        signal.signal(signal.SIGPROF, self._ring)
        signal.setitimer(signal.ITIMER_PROF, self._seconds, _AGAIN_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return isinstance(error, TimeIsUp)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self.rang = True
        raise TimeIsUp
