"""A sandbox whose runs are told of, each when it begins and when it has ended."""

from __future__ import annotations

import threading

from greenloop.dependencies import Installed
from greenloop.events import Emit, SandboxBegun, SandboxDone
from greenloop.sandbox.api import Sandbox
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.job import Work
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.views.packages import ProvidedSandbox


def told(box: Sandbox, emit: Emit) -> Sandbox:
    """The sandbox, with each of its runs told to `emit`."""
    return ToldSandbox(box, emit) if isinstance(box, TestingSandbox) else box


class ToldSandbox(ProvidedSandbox):
    """A view of `box` for one run. Events come from the thread that the work is done in."""

    def __init__(self, box: TestingSandbox, emit: Emit, packages: Installed | None = None) -> None:
        super().__init__(box, packages or box.packages)
        self._emit = emit

    def with_packages(self, packages: Installed) -> TestingSandbox:
        return ToldSandbox(self._box.with_packages(packages), self._emit, packages)

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        self._emit(SandboxBegun(work.key, work.kind))
        ended: Ended | None = None
        try:
            ended = super()._execute(work, stop)
            return ended
        finally:
            told = (ended.ending, ended.duration_s, ended.output) if ended else ("none", 0.0, b"")
            ending, seconds, output = told
            self._emit(
                SandboxDone(work.key, str(ending), seconds, output.decode("utf-8", "replace"))
            )
