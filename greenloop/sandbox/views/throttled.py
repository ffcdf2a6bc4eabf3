"""One sandbox for many runs: each stops its own alone, and all together start only so many."""

from __future__ import annotations

import threading
import time

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.views.packages import PackageSandbox

_POLL_SECONDS = 0.1


class ThrottledSandbox(PackageSandbox):
    """A view of `box` for one run. `slots` are the runs that may go on at once, over all views."""

    def __init__(
        self,
        sandbox: BaseSandbox,
        slots: threading.Semaphore,
        packages: InstalledPackages | None = None,
    ) -> None:
        super().__init__(sandbox, packages or InstalledPackages())
        self._slots = slots

    def with_packages(self, packages: InstalledPackages) -> BaseSandbox:
        return ThrottledSandbox(self._sandbox, self._slots, packages)

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        started = time.monotonic()
        while not self._slots.acquire(timeout=_POLL_SECONDS):
            if stop.is_set():
                return ProcessResult("interrupted", 0, b"", b"", time.monotonic() - started)
        try:
            return super()._execute(job, stop)
        finally:
            self._slots.release()
