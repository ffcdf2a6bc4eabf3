"""A sandbox as a run sees it whose code may use packages."""

from __future__ import annotations

import threading

from greenloop.dependencies import InstalledPackages
from greenloop.records import SandboxInfo
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult


class PackageSandbox(BaseSandbox):
    """The processes are those of the sandbox that it was made from, which may be shared by several
    runs with different packages at once. `interrupt` and `close` end only what was run through it.
    """

    def __init__(self, sandbox: BaseSandbox, packages: InstalledPackages) -> None:
        super().__init__(sandbox.limits, packages)
        self._sandbox = sandbox

    @property
    def info(self) -> SandboxInfo:
        return self._sandbox.info

    @property
    def can_isolate(self) -> bool:
        return self._sandbox.can_isolate

    @property
    def can_allow_hosts(self) -> bool:
        return self._sandbox.can_allow_hosts

    def with_packages(self, packages: InstalledPackages) -> BaseSandbox:
        return self._sandbox.with_packages(packages)

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        either = _AnyEvent(stop, self._sandbox._stop)
        return self._sandbox._execute(job, either)


class _AnyEvent(threading.Event):
    """Set as soon as one of the others is."""

    def __init__(self, *events: threading.Event) -> None:
        super().__init__()
        self._events = events

    def is_set(self) -> bool:
        return any(item.is_set() for item in self._events)
