"""View of a sandbox for a module of a project, which is run and graded like any other module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.records import Project, TestRun
from greenloop.sandbox.base import Sandbox, SandboxView
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.job import Job
from greenloop.sandbox.work.patches import PatchRuns
from greenloop.sandbox.work.projects import Hits
from greenloop.sandbox.work.scenarios import (
    Observations,
    RowOutcome,
    judge_together,
    observe_job,
)
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import is_test_path


class ProjectSandbox(SandboxView):
    """Runs tests in a copy of the project, with its conftest files and packages.

    `path` is the path of the module in the project; tests go by their paths in it. A process that
    collected the tests of a project is not forked, so each mutant has a run of its own.
    """

    def __init__(self, sandbox: Sandbox, project: Project, path: str) -> None:
        super().__init__(sandbox)
        self.project, self.path, self.can_fork = project, path, False

    def with_packages(self, packages: InstalledPackages) -> ProjectSandbox:
        return ProjectSandbox(self.sandbox.with_packages(packages), self.project, self.path)

    def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        *,
        module: str | None = None,
        doctests: bool = False,
        timeout_s: float | None = None,
        **options: Any,
    ) -> TestRun:
        """Run the tests of the project, then those among `tests` that it does not have.

        `timeout_s` has no effect: a project has its own limit.

        Raises:
            SandboxError: the tests are not files, or are to run as doctests.
        """
        if isinstance(tests, str) or doctests:
            raise SandboxError("in a project, tests run as its own files")
        files = self.project.all_files
        changed = {i.name: i.code for i in tests if files.get(i.name) != i.code.encode()}
        added = tuple(name for name in changed if name not in files)
        project = self.project.with_overlay({self.path: code, **changed}).model_copy(
            update={
                "targets": (*self.project.targets, *added),
                "last": tuple(item.name for item in tests if item.is_last),
            }
        )
        return self.run_project(project, **options)

    def record_hits(
        self, code: str, tests: Sequence[TestFile], **options: Any
    ) -> tuple[TestRun, int]:
        """Run the tests as `run_tests` does; return also a bit mask of what they run of the module.

        The bits are those of `guest.coverage.instrumentation`.
        """
        hits: Hits = {self.path: {}}
        run = self.run_tests(code, tests, hits=hits, **options)
        return run, reduce(or_, hits[self.path].values(), 0)

    def observe_scenarios(
        self,
        code: str,
        module: str,
        scenario: str,
        *,
        beside: Sequence[TestFile] = (),
        timeout_s: float | None = None,
        hash_seed: int = HASH_SEED,
    ) -> Observations:
        """Run scenarios in a copy of the project without its tests; none are run beside tests."""
        (found,) = self.observe_together(
            *(code, module, [(scenario, "")]),
            beside=beside,
            timeout_s=timeout_s,
            hash_seed=hash_seed,
        )
        return found

    def observe_together(
        self,
        code: str,
        module: str,
        scenarios: Sequence[tuple[str, str]],
        *,
        beside: Sequence[TestFile] = (),
        timeout_s: float | None = None,
        hash_seed: int = HASH_SEED,
    ) -> list[Observations]:
        """Do the same for several texts; those on another source of the module are not observed.

        Other modules of the project may have imported the module before its source is replaced.
        """
        if beside:
            error = "in a project no scenario runs beside the tests"
            return [Observations((), error) for _ in scenarios]
        texts = [(text, "") for text, source in scenarios if not source]
        files = self.project.with_overlay({self.path: code}).all_files
        tree = tuple((path, text) for path, text in files.items() if not is_test_path(path))
        levels = module.count(".") + (2 if self.path.endswith("/__init__.py") else 1)
        root = "/".join(self.path.split("/")[:-levels])
        payload = {"module": module, "scenarios": texts, "import_root": root}
        job = Job("scenarios", (), payload, hash_seed, self.packages, timeout_s, tree=tree)
        found = iter(observe_job(self, job) if texts else ())
        other = Observations((), "in a project no other source of a module is observed")
        return [other if source else next(found) for _, source in scenarios]

    def judge_scenarios(
        self,
        judge: str,
        observations: Observations,
        tests: Sequence[TestFile] = (),
        *,
        timeout_s: float | None = None,
    ) -> tuple[RowOutcome, ...]:
        """Judge without the files of the tests: their folders may hold the code."""
        (found,) = self.judge_together([(judge, observations)], timeout_s=timeout_s)
        return found

    def judge_together(
        self,
        judges: Sequence[tuple[str, Observations]],
        tests: Sequence[TestFile] = (),
        *,
        timeout_s: float | None = None,
    ) -> list[tuple[RowOutcome, ...]]:
        """Do the same for the rows of several texts."""
        return judge_together(self, judges, timeout_s=timeout_s)

    def run_patches(self, *_: object, **__: object) -> PatchRuns:
        """Return no results: a process that collected the tests of a project is not forked."""
        return PatchRuns(error="in a project nothing is forked after collection")
