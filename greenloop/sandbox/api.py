"""Protocol of a sandbox, as far as the functions of `greenloop.sandbox.work` use it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from greenloop.dependencies import InstalledPackages
from greenloop.records import SandboxInfo, TestRun
from greenloop.sandbox.environment import GuestEnvironment
from greenloop.sandbox.job import Job, TrialFiles
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.testsuite import TestFile

if TYPE_CHECKING:
    from greenloop.sandbox.work.observations import Observations


class JobRunner(Protocol):
    """Runner of jobs, each in a separate process; see `greenloop.sandbox.Sandbox`."""

    info: SandboxInfo
    packages: InstalledPackages
    limits: ResourceLimits
    can_fork: bool
    has_separate_runs: bool
    environment: GuestEnvironment | None

    def run(self, job: Job) -> ProcessResult: ...

    def place_trial(self, module: str, code: str, tests: Sequence[TestFile]) -> TrialFiles: ...

    def observe(
        self,
        code: str,
        module: str,
        programs: str,
        *,
        timeout_s: float | None = None,
        hash_seed: int = ...,
    ) -> "Observations": ...

    def run_tests(
        self,
        code: str,
        tests: Sequence[TestFile],
        *,
        module: str | None = None,
        timeout_s: float | None = None,
    ) -> TestRun: ...
