"""Sandbox protocol: what the functions of `greenloop.sandbox.work` need of a sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from greenloop.dependencies import InstalledPackages
from greenloop.records import SandboxInfo
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult

IsolationMode = Literal["shared", "split", "best"]


@dataclass(frozen=True)
class CallResults:
    """The raw event of each call, None where none was received; `error` says why ('' if all were)."""

    events: tuple[dict[str, Any] | None, ...]
    error: str = ""


class JobRunner(Protocol):
    """Runs jobs, each in a process of its own."""

    @property
    def info(self) -> SandboxInfo:
        """Name of the backend and what it isolates."""
        ...

    @property
    def packages(self) -> InstalledPackages:
        """What code may import besides the standard library."""
        ...

    @property
    def limits(self) -> ResourceLimits:
        """The limits of one job, where the job sets none."""
        ...

    @property
    def can_isolate(self) -> bool:
        """Whether tests and code can run in two processes that cannot reach each other."""
        ...

    @property
    def can_allow_hosts(self) -> bool:
        """Whether a script can be given access to single hosts."""
        ...

    def run(self, job: Job) -> ProcessResult:
        """Run one job to its end.

        Raises:
            SandboxError: no process can be started.
        """
        ...
