"""Views of a sandbox that emit events for each job or limit the number of concurrent jobs."""

import threading
import time
from dataclasses import replace

from greenloop.events import EventSink, SandboxJobEnded, SandboxJobProgress, SandboxJobStarted
from greenloop.sandbox.base import Sandbox, SandboxView
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult

_POLL_SECONDS = 0.1


class InstrumentedSandbox(SandboxView):
    """View that emits events for each job, from the thread that runs the job."""

    def __init__(self, sandbox: Sandbox, emit: EventSink) -> None:
        super().__init__(sandbox)
        self._emit = emit

    def run(self, job: Job) -> ProcessResult:
        self._emit(SandboxJobStarted(job.key, job.kind))
        job = replace(
            job,
            on_progress=lambda done: self._emit(
                SandboxJobProgress(job.key, job.kind, done, job.items)
            ),
        )
        ended = SandboxJobEnded(job.key, "none", 0.0, "")
        try:
            result = super().run(job)
            output = result.output.decode("utf-8", "replace")
            ended = SandboxJobEnded(job.key, str(result.ending), result.duration_s, output)
            return result
        finally:
            self._emit(ended)


class ThrottledSandbox(SandboxView):
    """View for one run of greenloop; `slots` limits the concurrent jobs of all views together."""

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
