"""A line now and then while nothing else is told, so that a log shows that the work goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from greenloop.reporting.progress.activity import Clock

EVERY_S = 15.0


class BreakingSilence:
    """Calls `tell` whenever nothing was told for `every_s` seconds, from a thread of its own.

    The thread lives from `start` to `stop`, and sleeps but for a look at the clock each second.
    """

    def __init__(
        self, tell: Callable[[], None], every_s: float = EVERY_S, clock: Clock = time.monotonic
    ) -> None:
        self._tell, self._every, self._clock = tell, every_s, clock
        self._last = clock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="greenloop-silence", daemon=True)

    def start(self) -> None:
        self._last = self._clock()
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and comes back when it has ended."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def told(self) -> None:
        """Something was told just now."""
        self._last = self._clock()

    def look(self) -> None:
        """Tells, where it was silent for too long."""
        if self._clock() - self._last >= self._every:
            self.told()
            self._tell()

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, self._every)):
            self.look()
