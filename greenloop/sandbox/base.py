"""What all sandboxes have in common: from code and tests to work for a process, and back."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.records import Expectation, Project, SandboxInfo, ScriptJob, ScriptRun, TestRun
from greenloop.sandbox.api import CallResults, IsolationMode
from greenloop.sandbox.guest.zygote.package_preload import SINGLE_THREAD_VARIABLES
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.calls import build_call_results
from greenloop.sandbox.work.isolation_mode import run_with_isolation
from greenloop.sandbox.work.mutants import (
    MARGIN_SECONDS,
    ModuleEdit,
    MutantRuns,
    run_all_mutants,
    to_payload,
)
from greenloop.sandbox.work.patches import (
    PatchRuns,
    PatchTrialPlan,
    build_patch_payload,
    parse_patch_runs,
)
from greenloop.sandbox.work.projects import build_project_job, decode_sources
from greenloop.sandbox.work.result_decoder import build_test_run
from greenloop.sandbox.work.scripts import KEPT_BYTES, build_script_job, build_script_run
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module


class BaseSandbox(ABC):
    """Everything but how a process is made. Safe to use from several threads."""

    __test__ = False

    def __init__(
        self, limits: ResourceLimits | None = None, packages: InstalledPackages | None = None
    ) -> None:
        self.packages = packages or InstalledPackages()
        self.limits = limits or ResourceLimits()
        self._stop = threading.Event()

    @property
    @abstractmethod
    def info(self) -> SandboxInfo: ...

    def limits_for(self, job: Job) -> ResourceLimits:
        """The limits of one piece of work."""
        limits, own = self.limits, job.timeout_s
        if own is not None:
            limits = replace(limits, timeout_s=own, cpu_s=None)
        if job.kind == "script":  # what it prints is what it is run for
            limits = replace(limits, kept_bytes=max(limits.kept_bytes, KEPT_BYTES))
        return limits

    @property
    def can_isolate(self) -> bool:
        """See `Sandbox.splits`."""
        return False

    @property
    def can_allow_hosts(self) -> bool:
        """See `Sandbox.reaches_hosts`."""
        return False

    @abstractmethod
    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        """Does the work in a process of its own. Raises SandboxError where there can be none."""

    def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        *,
        module: str | None = None,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
        doctests: bool = False,
        form: IsolationMode = "shared",
        brief: bool = False,
    ) -> TestRun:
        """See `Sandbox.run_tests`. Raises SandboxError where no process can be started."""
        stop = self._stop
        if isinstance(tests, str):
            module = module or find_tested_module(tests, self.packages.import_names)
            tests = [TestFile(f"test_{module}.py", tests)]
        elif not tests:
            raise ValueError("no test file was given")
        module = module or find_tested_module(tests[0].code, self.packages.import_names)
        files = tuple((item.name, item.code) for item in tests)
        own = ((f"{module}.py", code),)
        checked = [name for name, _ in (*own, *files)] if doctests else []
        job = {
            "targets": [item.name for item in tests],
            "order_seed": order_seed,
            "last": [item.name for item in tests if item.is_last],
            "doctests": checked,
            "brief": brief,
        }

        def run(work: Job) -> TestRun:
            ended = self._execute(work, stop)
            return build_test_run(ended, expected, work.key, self.limits, dict((*own, *files)))

        def shared() -> TestRun:
            return run(Job("tests", (*own, *files), job, hash_seed, self.packages))

        def split() -> TestRun:
            told = {**job, "module": module}
            return run(Job("split", files, told, packages=self.packages, code_files=own))

        can_split = self.can_isolate and not hash_seed and not doctests
        return run_with_isolation(form, shared, split if can_split else None)

    def evaluate_calls(
        self, code: str, module: str, calls: Sequence[str], *, timeout_s: float | None = None
    ) -> CallResults:
        """See `Sandbox.answer_calls`. Raises SandboxError where no process can be started."""
        stop = self._stop
        job = {"module": module, "calls": list(calls)}
        files = ((f"{module}.py", code),)
        work = Job("calls", files, job, packages=self.packages, timeout_s=timeout_s)
        return build_call_results(self._execute(work, stop), len(calls), work.key, self.limits)

    def run_script(self, job: ScriptJob) -> ScriptRun:
        """See `Sandbox.run_script`. Raises InputError, and SandboxError."""
        stop, work = self._stop, build_script_job(job, self.limits, self.packages)
        if work.allowed_hosts and not self.can_allow_hosts:
            raise SandboxError(
                f"{self.info.backend}: hosts cannot be allowed here one by one; "
                "the native and the bubblewrap sandbox can do that"
            )
        return build_script_run(self._execute(work, stop), work, self.limits_for(work))

    def run_project(
        self,
        project: Project,
        *,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
    ) -> TestRun:
        """See `Sandbox.run_project`. Raises InputError, and SandboxError."""
        seeds = (order_seed, hash_seed)
        stop, (work, notes) = self._stop, build_project_job(
            project, self.limits, self.packages, *seeds
        )
        ended = self._execute(work, stop)
        run = build_test_run(ended, expected, work.key, self.limits, decode_sources(work))
        return run.model_copy(update={"notes": notes})

    def with_packages(self, packages: InstalledPackages) -> BaseSandbox:
        """See `Sandbox.with_packages`."""
        from greenloop.sandbox.views.packages import PackageSandbox

        return PackageSandbox(self, packages) if packages else self

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        edits: Sequence[ModuleEdit],
        *,
        module: str,
        budget_s: float,
    ) -> MutantRuns:
        """See `Sandbox.run_mutants`. Raises SandboxError where no process can be started."""
        stop = self._stop
        files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
        targets = [item.name for item in tests]

        def run(chosen: Sequence[int], left_s: float, together: bool) -> tuple[ProcessResult, str]:
            asked = {"splices": to_payload(edits, chosen), "together": together}
            job = {"module": module, "targets": targets, "budget_s": left_s, **asked}
            within_s = left_s + MARGIN_SECONDS
            work = Job("mutants", files, job, packages=self.packages, timeout_s=within_s)
            return self._execute(work, stop), work.key

        return run_all_mutants(edits, run, budget_s)

    def run_patches(
        self,
        code: str,
        tests: Sequence[TestFile],
        edits: Sequence[ModuleEdit],
        *,
        module: str,
        plan: PatchTrialPlan | None = None,
        max_cpu_s: float = 1.0,
        budget_s: float,
    ) -> PatchRuns:
        """See `Sandbox.run_patches`. Raises SandboxError where no process can be started."""
        files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
        asked = build_patch_payload(edits, plan, max_cpu_s)
        targets = [item.name for item in tests]
        job = {"module": module, "targets": targets, "budget_s": budget_s, **asked}
        within_s = budget_s + MARGIN_SECONDS
        work = Job("patches", files, job, packages=self.packages, timeout_s=within_s)
        return parse_patch_runs(self._execute(work, self._stop), work.key, len(edits))

    def interrupt(self) -> None:
        """See `Sandbox.interrupt`; later runs are not concerned."""
        running, self._stop = self._stop, threading.Event()
        running.set()

    def close(self) -> None:
        self.interrupt()

    def __enter__(self) -> BaseSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def build_environment(
    home: str, temporary: str, hash_seed: int, packages: InstalledPackages | None = None
) -> dict[str, str]:
    """Everything that a run gets to see: nothing is taken over from the host."""
    return {
        **(SINGLE_THREAD_VARIABLES if packages else {}),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
