"""What all sandboxes have in common: from code and tests to work for a process, and back."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType

from greenloop.dependencies import Installed
from greenloop.errors import SandboxError
from greenloop.records import Expectation, Project, SandboxInfo, ScriptJob, ScriptRun, TestRun
from greenloop.sandbox.api import Answers, AskedForm
from greenloop.sandbox.guest.zygote.package_preload import ONE_THREAD
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.work.calls import answers_of
from greenloop.sandbox.work.isolation_mode import run_in_form
from greenloop.sandbox.work.mutants import MARGIN_S, MutantRuns, Splice, as_job, try_all
from greenloop.sandbox.work.patches import PatchRuns, Trying, patch_runs, patches_job
from greenloop.sandbox.work.projects import project_work, texts
from greenloop.sandbox.work.result_decoder import test_run
from greenloop.sandbox.work.scripts import KEPT_BYTES, script_run, script_work
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import tested_module


class TestingSandbox(ABC):
    """Everything but how a process is made. Safe to use from several threads."""

    __test__ = False

    def __init__(self, limits: Limits | None = None, packages: Installed | None = None) -> None:
        self.packages = packages or Installed()
        self.limits = limits or Limits()
        self._stop = threading.Event()

    @property
    @abstractmethod
    def info(self) -> SandboxInfo: ...

    def within(self, work: Work) -> Limits:
        """The limits of one piece of work."""
        limits, own = self.limits, work.timeout_s
        if own is not None:
            limits = replace(limits, timeout_s=own, cpu_s=None)
        if work.kind == "script":  # what it prints is what it is run for
            limits = replace(limits, kept_bytes=max(limits.kept_bytes, KEPT_BYTES))
        return limits

    @property
    def splits(self) -> bool:
        """See `Sandbox.splits`."""
        return False

    @property
    def reaches_hosts(self) -> bool:
        """See `Sandbox.reaches_hosts`."""
        return False

    @abstractmethod
    def _execute(self, work: Work, stop: threading.Event) -> Ended:
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
        form: AskedForm = "shared",
        brief: bool = False,
    ) -> TestRun:
        """See `Sandbox.run_tests`. Raises SandboxError where no process can be started."""
        stop = self._stop
        if isinstance(tests, str):
            module = module or tested_module(tests, self.packages.imports)
            tests = [TestFile(f"test_{module}.py", tests)]
        elif not tests:
            raise ValueError("no test file was given")
        module = module or tested_module(tests[0].code, self.packages.imports)
        files = tuple((item.name, item.code) for item in tests)
        own = ((f"{module}.py", code),)
        checked = [name for name, _ in (*own, *files)] if doctests else []
        job = {
            "targets": [item.name for item in tests],
            "order_seed": order_seed,
            "last": [item.name for item in tests if item.last],
            "doctests": checked,
            "brief": brief,
        }

        def run(work: Work) -> TestRun:
            ended = self._execute(work, stop)
            return test_run(ended, expected, work.key, self.limits, dict((*own, *files)))

        def shared() -> TestRun:
            return run(Work("tests", (*own, *files), job, hash_seed, self.packages))

        def split() -> TestRun:
            told = {**job, "module": module}
            return run(Work("split", files, told, packages=self.packages, code=own))

        can_split = self.splits and not hash_seed and not doctests
        return run_in_form(form, shared, split if can_split else None)

    def answer_calls(
        self, code: str, module: str, calls: Sequence[str], *, timeout_s: float | None = None
    ) -> Answers:
        """See `Sandbox.answer_calls`. Raises SandboxError where no process can be started."""
        stop = self._stop
        job = {"module": module, "calls": list(calls)}
        files = ((f"{module}.py", code),)
        work = Work("calls", files, job, packages=self.packages, timeout_s=timeout_s)
        return answers_of(self._execute(work, stop), len(calls), work.key, self.limits)

    def run_script(self, job: ScriptJob) -> ScriptRun:
        """See `Sandbox.run_script`. Raises InputError, and SandboxError."""
        stop, work = self._stop, script_work(job, self.limits, self.packages)
        if work.hosts and not self.reaches_hosts:
            raise SandboxError(
                f"{self.info.backend}: hosts cannot be allowed here one by one; "
                "the native and the bubblewrap sandbox can do that"
            )
        return script_run(self._execute(work, stop), work, self.within(work))

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
        stop, (work, notes) = self._stop, project_work(project, self.limits, self.packages, *seeds)
        ended = self._execute(work, stop)
        run = test_run(ended, expected, work.key, self.limits, texts(work))
        return run.model_copy(update={"notes": notes})

    def with_packages(self, packages: Installed) -> TestingSandbox:
        """See `Sandbox.with_packages`."""
        from greenloop.sandbox.views.packages import ProvidedSandbox

        return ProvidedSandbox(self, packages) if packages else self

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        splices: Sequence[Splice],
        *,
        module: str,
        budget_s: float,
    ) -> MutantRuns:
        """See `Sandbox.run_mutants`. Raises SandboxError where no process can be started."""
        stop = self._stop
        files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
        targets = [item.name for item in tests]

        def run(chosen: Sequence[int], left_s: float, together: bool) -> tuple[Ended, str]:
            asked = {"splices": as_job(splices, chosen), "together": together}
            job = {"module": module, "targets": targets, "budget_s": left_s, **asked}
            within_s = left_s + MARGIN_S
            work = Work("mutants", files, job, packages=self.packages, timeout_s=within_s)
            return self._execute(work, stop), work.key

        return try_all(splices, run, budget_s)

    def run_patches(
        self,
        code: str,
        tests: Sequence[TestFile],
        splices: Sequence[Splice],
        *,
        module: str,
        trying: Trying | None = None,
        most_s: float = 1.0,
        budget_s: float,
    ) -> PatchRuns:
        """See `Sandbox.run_patches`. Raises SandboxError where no process can be started."""
        files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
        asked = patches_job(splices, trying, most_s)
        targets = [item.name for item in tests]
        job = {"module": module, "targets": targets, "budget_s": budget_s, **asked}
        within_s = budget_s + MARGIN_S
        work = Work("patches", files, job, packages=self.packages, timeout_s=within_s)
        return patch_runs(self._execute(work, self._stop), work.key, len(splices))

    def interrupt(self) -> None:
        """See `Sandbox.interrupt`; later runs are not concerned."""
        running, self._stop = self._stop, threading.Event()
        running.set()

    def close(self) -> None:
        self.interrupt()

    def __enter__(self) -> TestingSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def environment(
    home: str, temporary: str, hash_seed: int, packages: Installed | None = None
) -> dict[str, str]:
    """Everything that a run gets to see: nothing is taken over from the host."""
    return {
        **(ONE_THREAD if packages else {}),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
