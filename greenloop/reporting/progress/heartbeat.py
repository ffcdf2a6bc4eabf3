"""A line now and then while nothing else is told, so that a log shows that the work goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from greenloop.reporting.progress.activity import Clock

HEARTBEAT_SECONDS = 15.0


class Heartbeat:
    """Calls `tell` whenever nothing was told for `every_s` seconds, from a thread of its own.

    The thread lives from `start` to `stop`, and sleeps but for a look at the clock each second.
    """

    def __init__(
        self,
        on_silence: Callable[[], None],
        interval_seconds: float = HEARTBEAT_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._on_silence, self._interval_seconds, self._clock = on_silence, interval_seconds, clock
        self._last_output_at = clock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="greenloop-silence", daemon=True)

    def start(self) -> None:
        self._last_output_at = self._clock()
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and comes back when it has ended."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def record_output(self) -> None:
        """Something was told just now."""
        self._last_output_at = self._clock()

    def check_silence(self) -> None:
        """Tells, where it was silent for too long."""
        if self._clock() - self._last_output_at >= self._interval_seconds:
            self.record_output()
            self._on_silence()

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._interval_seconds)):
            self.check_silence()
