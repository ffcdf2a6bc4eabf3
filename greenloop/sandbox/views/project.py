"""A module that lives in a project, run and graded like any other.

Its tests run where the project has them, with its conftest files and packages around them; what
is asked of them otherwise is asked of a project with one file laid over it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from greenloop.dependencies import Installed
from greenloop.errors import SandboxError
from greenloop.records import Expectation, Project, SandboxInfo, ScriptJob, ScriptRun, TestRun
from greenloop.sandbox.api import Answers, AskedForm, Sandbox
from greenloop.sandbox.work.mutants import MutantRun, MutantRuns, Splice
from greenloop.sandbox.work.patches import PatchRuns, Trying
from greenloop.testsuite import TestFile


@dataclass(frozen=True)
class ProjectSandbox:
    """`path` is the module's place in the project; tests go by their paths in it."""

    box: Sandbox
    project: Project
    path: str

    @property
    def info(self) -> SandboxInfo:
        return self.box.info

    @property
    def packages(self) -> Installed:
        return self.box.packages

    @property
    def splits(self) -> bool:
        return False

    @property
    def reaches_hosts(self) -> bool:
        return self.box.reaches_hosts

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
        """See `Sandbox.run_tests`; tests that the project does not have are run after its own.

        The output is whole even where it may be `brief`: the project's own settings say how it is.

        Raises:
            SandboxError: the tests are no files, or are to be split, which they cannot be here.
        """
        if isinstance(tests, str) or form == "split" or doctests:
            raise SandboxError("in a project, tests run as its own files, and in one process")
        laid_out = self.project.laid_out
        changed = {i.name: i.code for i in tests if laid_out.get(i.name) != i.code.encode()}
        more = tuple(name for name in changed if name not in laid_out)
        project = self.project.with_overlay({self.path: code, **changed})
        last = tuple(item.name for item in tests if item.last)
        changes = {"targets": (*self.project.targets, *more), "last": last}
        project = project.model_copy(update=changes)
        return self.box.run_project(
            project, expected=expected, order_seed=order_seed, hash_seed=hash_seed
        )

    def run_mutants(
        self,
        code: str,
        tests: Sequence[TestFile],
        splices: Sequence[Splice],
        *,
        module: str,
        budget_s: float,
    ) -> MutantRuns:
        """One test run a mutant: far slower than in a module's own folder, but as true."""
        started = time.monotonic()
        runs: list[MutantRun] = []
        for splice in splices:
            if time.monotonic() - started > budget_s:
                break
            mutant = code[: splice.start] + splice.text + code[splice.end :]
            runs.append(_outcome(self.run_tests(mutant, tests, module=module)))
        runs += [MutantRun("not_run")] * (len(splices) - len(runs))
        return MutantRuns(tuple(runs), seconds=time.monotonic() - started)

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
        """None: a project's tests are run as a whole, once for each patch."""
        return PatchRuns(trouble="in a project nothing is forked after collection")

    def answer_calls(
        self, code: str, module: str, calls: Sequence[str], *, timeout_s: float | None = None
    ) -> Answers:
        return self.box.answer_calls(code, module, calls, timeout_s=timeout_s)

    def run_script(self, job: ScriptJob) -> ScriptRun:
        return self.box.run_script(job)

    def run_project(
        self,
        project: Project,
        *,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
    ) -> TestRun:
        return self.box.run_project(
            project, expected=expected, order_seed=order_seed, hash_seed=hash_seed
        )

    def with_packages(self, packages: Installed) -> ProjectSandbox:
        return ProjectSandbox(self.box.with_packages(packages), self.project, self.path)

    def interrupt(self) -> None:
        self.box.interrupt()

    def close(self) -> None:
        self.box.close()

    def __enter__(self) -> ProjectSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _outcome(run: TestRun) -> MutantRun:
    if run.passed:
        return MutantRun("survived")
    if run.ending == "timeout":
        return MutantRun("timeout")
    if run.ending == "interrupted":
        return MutantRun("not_run")
    first = next(iter(sorted(run.failing)), "")
    return MutantRun("killed" if run.ending == "finished" else "crashed", first)
