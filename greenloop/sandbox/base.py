"""Sandbox: base class of the backends and of the views."""

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.environment import GuestEnvironment
from greenloop.sandbox.guest.limits.rlimits import SINGLE_THREAD_VARIABLES
from greenloop.sandbox.guest.protocol.framing import PROCESSES
from greenloop.sandbox.job import Job, TrialFiles
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work import observations, projects, scripts, tests
from greenloop.sandbox.work.tests import Hits, RecordedRun
from greenloop.sandbox.work.trials import mutants, patches
from greenloop.testsuite import TestFile

_S = TypeVar("_S", bound="Sandbox")


class Sandbox(ABC):
    """Base class of sandboxes, which run untrusted code in separate processes. Thread-safe.

    A backend sets `info` and implements `run`; all other methods build jobs and run them.

    Attributes:
        info: Name of the backend and what it isolates.
        packages: Packages that code may import besides the standard library.
        limits: Default limits of a job.
        can_fork: Whether a run can start processes.
        has_separate_runs: Whether concurrent runs share neither network nor files.
        environment: The environment of a project that runs its jobs; None for greenloop's own.
    """

    info: SandboxInfo
    can_fork = True
    has_separate_runs = False
    environment: GuestEnvironment | None = None

    def __init__(
        self, limits: ResourceLimits | None = None, packages: InstalledPackages | None = None
    ) -> None:
        self.packages = packages or InstalledPackages()
        self.limits = limits or ResourceLimits()
        self._stop = threading.Event()

    @abstractmethod
    def run(self, job: Job) -> ProcessResult:
        """Run one job to its end. Raises SandboxError if no process can be started."""

    # Functions whose first argument is the sandbox, so that they become methods.
    run_tests = tests.run_tests
    run_project = projects.run_project
    run_script = scripts.run_script
    run_mutants = mutants.run_mutants
    run_patches = patches.run_patches
    measure_tests = patches.measure_tests
    evaluate_calls = observations.evaluate_calls
    observe = observations.observe

    def with_packages(self, packages: InstalledPackages) -> "Sandbox":
        """Return a view for code that may import these packages.

        The view is cheap, shares the processes of this sandbox, is interrupted separately, and
        need not be closed.
        """
        return SandboxView(self, packages)

    def place_trial(self, module: str, code: str, tests: Sequence[TestFile]) -> TrialFiles:
        """Return the files of trials of a module, all in one folder."""
        names = ((item.name, item.code) for item in tests)
        places = {"path": f"{module}.py", "targets": [item.name for item in tests]}
        return TrialFiles(((f"{module}.py", code), *names), (), places)

    def get_path(self, module: str) -> str:
        """Return the path of a module in the folder of a run."""
        return f"{module}.py"

    def record_hits(
        self, code: str, tests: Sequence[TestFile], module: str, **options: Any
    ) -> RecordedRun:
        """Run the tests as `run_tests` does, and record what each executes of the module."""
        path = self.get_path(module)
        hits: Hits = {path: {}, PROCESSES: {}}
        run = self.run_tests(code, tests, module=module, hits=hits, **options)
        return RecordedRun(run, hits[path], hits[PROCESSES])

    def open_environment(self, environment: GuestEnvironment) -> "Sandbox":
        """Return a sandbox of the same kind that runs its jobs in a project's own environment.

        Raises SandboxError if sandboxes of this kind run no other interpreter.
        """
        raise SandboxError(f"{self.info.backend}: only greenloop's own Python can run here")

    @property
    def is_interrupted(self) -> bool:
        """Whether runs that begin now end at once; code that uses their results should stop."""
        return self._stop.is_set()

    def interrupt(self) -> None:
        """End every run in progress; these end as `interrupted`. Later runs are not affected."""
        with self.interrupt_runs():
            pass

    @contextlib.contextmanager
    def interrupt_runs(self) -> Iterator[None]:
        """End every run in progress, and within the block every run that begins."""
        running = self._stop
        running.set()
        try:
            yield
        finally:
            self._stop = threading.Event()

    def close(self) -> None:
        """Interrupt all runs and release the resources of the sandbox."""
        self.interrupt()

    def _stop_event(self, job: Job) -> threading.Event:
        """Return an event that is set when the job must end."""
        return _AnyEvent(self._stop, *job.stop_events)

    def __enter__(self: _S) -> _S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SandboxView(Sandbox):
    """Sandbox that forwards its jobs to another sandbox, which several views may share.

    `interrupt` and `close` end only the jobs of this view.
    """

    def __init__(self, sandbox: Sandbox, packages: InstalledPackages | None = None) -> None:
        super().__init__(sandbox.limits, packages or sandbox.packages)
        self.sandbox, self.info = sandbox, sandbox.info
        self.can_fork = sandbox.can_fork
        self.has_separate_runs = sandbox.has_separate_runs
        self.environment = sandbox.environment

    @property
    def is_interrupted(self) -> bool:
        return super().is_interrupted or self.sandbox.is_interrupted

    def open_environment(self, environment: GuestEnvironment) -> Sandbox:
        return self.sandbox.open_environment(environment)

    def run(self, job: Job) -> ProcessResult:
        if self.is_interrupted:
            return ProcessResult.without_report("interrupted", time.monotonic())
        return self.sandbox.run(replace(job, stop_events=(*job.stop_events, self._stop)))


class _AnyEvent(threading.Event):
    """Event that is set as soon as one of the given events is."""

    def __init__(self, *events: threading.Event) -> None:
        super().__init__()
        self._events = events

    def is_set(self) -> bool:
        return any(item.is_set() for item in self._events)


def build_environment(
    home: str,
    temporary: str,
    hash_seed: int,
    *,
    has_pytest: bool = True,
) -> dict[str, str]:
    """Return all environment variables of a run; none are inherited from the host."""
    return {
        **SINGLE_THREAD_VARIABLES,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **dict.fromkeys(("USER", "LOGNAME"), "user"),  # for getpass.getuser()
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if has_pytest else {}),
    }
