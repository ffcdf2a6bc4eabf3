"""A sandbox whose runs are told of, each when it begins and when it has ended."""

from __future__ import annotations

import threading

from greenloop.dependencies import InstalledPackages
from greenloop.events import EventSink, SandboxJobEnded, SandboxJobStarted
from greenloop.sandbox.api import Sandbox
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.views.packages import PackageSandbox


def with_events(sandbox: Sandbox, emit: EventSink) -> Sandbox:
    """The sandbox, with each of its runs told to `emit`."""
    return InstrumentedSandbox(sandbox, emit) if isinstance(sandbox, BaseSandbox) else sandbox


class InstrumentedSandbox(PackageSandbox):
    """A view of `box` for one run. Events come from the thread that the work is done in."""

    def __init__(
        self, sandbox: BaseSandbox, emit: EventSink, packages: InstalledPackages | None = None
    ) -> None:
        super().__init__(sandbox, packages or sandbox.packages)
        self._emit = emit

    def with_packages(self, packages: InstalledPackages) -> BaseSandbox:
        return InstrumentedSandbox(self._sandbox.with_packages(packages), self._emit, packages)

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        self._emit(SandboxJobStarted(job.key, job.kind))
        ended: ProcessResult | None = None
        try:
            ended = super()._execute(job, stop)
            return ended
        finally:
            told = (ended.ending, ended.duration_s, ended.output) if ended else ("none", 0.0, b"")
            ending, seconds, output = told
            self._emit(
                SandboxJobEnded(job.key, str(ending), seconds, output.decode("utf-8", "replace"))
            )
