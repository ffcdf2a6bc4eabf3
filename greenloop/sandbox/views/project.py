"""A module that lives in a project, run and graded like any other.

Its tests run where the project has them, with its conftest files and packages around them; what
is asked of them otherwise is asked of a project with one file laid over it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.records import Expectation, Project, SandboxInfo, ScriptJob, ScriptRun, TestRun
from greenloop.sandbox.api import CallResults, IsolationMode, Sandbox
from greenloop.sandbox.work.mutants import ModuleEdit, MutantRun, MutantRuns
from greenloop.sandbox.work.patches import PatchRuns, PatchTrialPlan
from greenloop.testsuite import TestFile


@dataclass(frozen=True)
class ProjectSandbox:
    """`path` is the module's place in the project; tests go by their paths in it."""

    sandbox: Sandbox
    project: Project
    path: str

    @property
    def info(self) -> SandboxInfo:
        return self.sandbox.info

    @property
    def packages(self) -> InstalledPackages:
        return self.sandbox.packages

    @property
    def can_isolate(self) -> bool:
        return False

    @property
    def can_allow_hosts(self) -> bool:
        return self.sandbox.can_allow_hosts

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
        """See `Sandbox.run_tests`; tests that the project does not have are run after its own.

        The output is whole even where it may be `brief`: the project's own settings say how it is.

        Raises:
            SandboxError: the tests are no files, or are to be split, which they cannot be here.
        """
        if isinstance(tests, str) or form == "split" or doctests:
            raise SandboxError("in a project, tests run as its own files, and in one process")
        laid_out = self.project.all_files
        changed = {i.name: i.code for i in tests if laid_out.get(i.name) != i.code.encode()}
        more = tuple(name for name in changed if name not in laid_out)
        project = self.project.with_overlay({self.path: code, **changed})
        last = tuple(item.name for item in tests if item.is_last)
        changes = {"targets": (*self.project.targets, *more), "last": last}
        project = project.model_copy(update=changes)
        return self.sandbox.run_project(
            project, expected=expected, order_seed=order_seed, hash_seed=hash_seed
        )

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        edits: Sequence[ModuleEdit],
        *,
        module: str,
        budget_s: float,
    ) -> MutantRuns:
        """One test run a mutant: far slower than in a module's own folder, but as true."""
        started = time.monotonic()
        runs: list[MutantRun] = []
        for splice in edits:
            if time.monotonic() - started > budget_s:
                break
            mutant = code[: splice.start] + splice.text + code[splice.end :]
            runs.append(_to_mutant_run(self.run_tests(mutant, tests, module=module)))
        runs += [MutantRun("not_run")] * (len(edits) - len(runs))
        return MutantRuns(tuple(runs), seconds=time.monotonic() - started)

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
        """None: a project's tests are run as a whole, once for each patch."""
        return PatchRuns(error="in a project nothing is forked after collection")

    def evaluate_calls(
        self, code: str, module: str, calls: Sequence[str], *, timeout_s: float | None = None
    ) -> CallResults:
        return self.sandbox.evaluate_calls(code, module, calls, timeout_s=timeout_s)

    def run_script(self, job: ScriptJob) -> ScriptRun:
        return self.sandbox.run_script(job)

    def run_project(
        self,
        project: Project,
        *,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
    ) -> TestRun:
        return self.sandbox.run_project(
            project, expected=expected, order_seed=order_seed, hash_seed=hash_seed
        )

    def with_packages(self, packages: InstalledPackages) -> ProjectSandbox:
        return ProjectSandbox(self.sandbox.with_packages(packages), self.project, self.path)

    def interrupt(self) -> None:
        self.sandbox.interrupt()

    def close(self) -> None:
        self.sandbox.close()

    def __enter__(self) -> ProjectSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _to_mutant_run(run: TestRun) -> MutantRun:
    if run.passed:
        return MutantRun("survived")
    if run.ending == "timeout":
        return MutantRun("timeout")
    if run.ending == "interrupted":
        return MutantRun("not_run")
    first = next(iter(sorted(run.failing_tests)), "")
    return MutantRun("killed" if run.ending == "finished" else "crashed", first)
