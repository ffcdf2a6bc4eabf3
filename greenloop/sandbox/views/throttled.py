"""View of a sandbox that many runs share: together they start a limited number of jobs."""

from __future__ import annotations

import threading
import time

from greenloop.sandbox.base import Sandbox, SandboxView
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult

_POLL_SECONDS = 0.1


class ThrottledSandbox(SandboxView):
    """A view for one run; `slots` counts the jobs that may run at once, over all views."""

    def __init__(self, sandbox: Sandbox, slots: threading.Semaphore) -> None:
        super().__init__(sandbox)
        self._slots = slots

    def run(self, job: Job) -> ProcessResult:
        started, stop = time.monotonic(), self._stop_event(job)
        while not self._slots.acquire(timeout=_POLL_SECONDS):
            if stop.is_set():
                return ProcessResult.without_report("interrupted", started)
        try:
            return super().run(job)
        finally:
            self._slots.release()
