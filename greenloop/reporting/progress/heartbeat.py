"""Heartbeat: a line in intervals without other output, so that a log shows progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from greenloop.reporting.progress.activity import Clock

HEARTBEAT_SECONDS = 15.0


class Heartbeat:
    """Thread that calls `on_silence` after each `interval_seconds` without output."""

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
        """End the thread and wait for it."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def record_output(self) -> None:
        """Restart the interval."""
        self._last_output_at = self._clock()

    def check_silence(self) -> None:
        """Call `on_silence` if the interval is over."""
        if self._clock() - self._last_output_at >= self._interval_seconds:
            self.record_output()
            self._on_silence()

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._interval_seconds)):
            self.check_silence()
