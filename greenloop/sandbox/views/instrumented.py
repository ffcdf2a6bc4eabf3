"""View of a sandbox that emits an event when a job begins and when it ends."""

from __future__ import annotations

from dataclasses import replace

from greenloop.events import EventSink, SandboxJobEnded, SandboxJobProgress, SandboxJobStarted
from greenloop.sandbox.base import Sandbox, SandboxView
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult


class InstrumentedSandbox(SandboxView):
    """Runs jobs in another sandbox; emits events from the thread that runs the job."""

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
