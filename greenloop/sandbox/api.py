"""What a sandbox is, to everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol

from greenloop.dependencies import InstalledPackages
from greenloop.records import Expectation, Project, SandboxInfo, ScriptJob, ScriptRun, TestRun
from greenloop.sandbox.work.mutants import ModuleEdit, MutantRuns
from greenloop.sandbox.work.patches import PatchRuns, PatchTrialPlan
from greenloop.testsuite import TestFile

IsolationMode = Literal["shared", "split", "best"]


@dataclass(frozen=True)
class CallResults:
    """What a module answered to calls: per call its raw event, None where none came.

    `trouble` says why not all came ('' where all did).
    """

    events: tuple[dict[str, Any] | None, ...]
    error: str = ""


class Sandbox(Protocol):
    """Runs foreign code apart from this process. Usable from several threads at once."""

    @property
    def info(self) -> SandboxInfo: ...

    @property
    def packages(self) -> InstalledPackages:
        """What code may use in it besides the standard library."""
        ...

    @property
    def can_isolate(self) -> bool:
        """Whether tests and code can be kept in two processes that cannot reach each other."""
        ...

    @property
    def can_allow_hosts(self) -> bool:
        """Whether a script can be let reach hosts by name while it reaches no others."""
        ...

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
        """Runs tests on a module's source in a fresh working folder.

        `module` is found from the tests' imports where it is left out. With `expected`, the run
        passes only if exactly these tests report. `order_seed` shuffles the tests; `doctests`
        makes those of the module and of the test files tests too.

        `form` "split" keeps tests and code in two processes, so that the code cannot forge the
        verdict; not all tests can be run so, and doctests never. "best" tries that first and then
        "shared", both in one process; `TestRun.form` says which it was. `brief` leaves pytest's
        own text of each failure out of the output: to make it costs more than the tests.

        Raises:
            SandboxError: no process can be started; "split" was asked for where there is no wall,
                with a hash seed, or with doctests.
        """
        ...

    def evaluate_calls(
        self, code: str, module: str, calls: Sequence[str], *, timeout_s: float | None = None
    ) -> CallResults:
        """Evaluates call expressions over the module's names; values come back tagged.

        `timeout_s`: for all of them together, where that is not the sandbox's own limit.
        """
        ...

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        edits: Sequence[ModuleEdit],
        *,
        module: str,
        budget_s: float,
    ) -> MutantRuns:
        """Tries each change of the module against the tests that reach it, for so many seconds."""
        ...

    def run_script(self, job: ScriptJob) -> ScriptRun:
        """Runs a script as `__main__` in a fresh working folder that holds its inputs.

        Raises:
            InputError: the job cannot be laid out: a path that leads out of the folder, two files
                of one path, more than the sandbox has room for, a host that is none.
            SandboxError: no process can be started; hosts are named and this sandbox has no way to
                let a run reach those alone.
        """
        ...

    def run_project(
        self,
        project: Project,
        *,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
    ) -> TestRun:
        """Runs the tests of a project in a fresh copy of it, with its own pytest configuration.

        Node ids are relative to the project's root; the rest is as for `run_tests`. `TestRun.notes`
        say what of the configuration was not used.

        Raises:
            InputError: the project cannot be laid out.
            SandboxError: no process can be started.
        """
        ...

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
        """Without `trying`: what each test of a red module reaches, in `most_s` CPU seconds each.

        With it: tries the changes of the module as that says, for `budget_s` seconds at most.
        """
        ...

    def with_packages(self, packages: InstalledPackages) -> Sandbox:
        """The same sandbox for code that may use packages; what it runs is interrupted apart.

        It costs nothing to make and need not be closed: its processes are those of this one.
        """
        ...

    def interrupt(self) -> None:
        """Ends everything that is running now; those runs end as `interrupted`."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
