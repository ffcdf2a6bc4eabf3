"""Limit of CPU time for a block of code in this process."""

import signal
from types import FrameType, TracebackType

_REPEAT_SECONDS = 0.25  # between two signals, enough for teardown


class CpuTimeExceeded(BaseException):
    """Raised in the code that has used up its CPU time."""


class CpuTimeLimit:
    """Context manager that interrupts its block after some CPU seconds; see `is_exceeded`.

    Cheap but not reliable: code that catches every exception, or hangs in a C library, must be
    ended by another process.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_exceeded = False

    def __enter__(self) -> "CpuTimeLimit":
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
