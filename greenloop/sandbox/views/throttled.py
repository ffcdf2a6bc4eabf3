"""One sandbox for many runs: each stops its own alone, and all together start only so many."""

from __future__ import annotations

import threading
import time

from greenloop.dependencies import Installed
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.job import Work
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.views.packages import ProvidedSandbox

_LOOK_S = 0.1


class SharedSandbox(ProvidedSandbox):
    """A view of `box` for one run. `slots` are the runs that may go on at once, over all views."""

    def __init__(
        self,
        box: TestingSandbox,
        slots: threading.Semaphore,
        packages: Installed | None = None,
    ) -> None:
        super().__init__(box, packages or Installed())
        self._slots = slots

    def with_packages(self, packages: Installed) -> TestingSandbox:
        return SharedSandbox(self._box, self._slots, packages)

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        started = time.monotonic()
        while not self._slots.acquire(timeout=_LOOK_S):
            if stop.is_set():
                return Ended("interrupted", 0, b"", b"", time.monotonic() - started)
        try:
            return super()._execute(work, stop)
        finally:
            self._slots.release()
