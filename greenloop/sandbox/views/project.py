"""View of a sandbox for a module of a project, which is run and graded like any other module."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.encodings import encode_source
from greenloop.errors import SandboxError
from greenloop.records import Project, TestRun
from greenloop.sandbox.base import Sandbox, SandboxView
from greenloop.sandbox.job import HASH_SEED, Job, TrialFiles
from greenloop.sandbox.work.observations import Observations, observe_job
from greenloop.sandbox.work.projects import place_project
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import list_imported_names, name_imports_fully
from greenloop.testsuite.parser import has_test_name, is_test_path

_TEST = re.compile(rb"^\s*((async\s+)?def test|class \w*Test)|TestCase", re.MULTILINE)


class ProjectSandbox(SandboxView):
    """View that runs tests in a copy of a project, with its conftest files and packages.

    `path` is the path of the module in the project; tests are named by their paths in it.
    """

    def __init__(self, sandbox: Sandbox, project: Project, path: str) -> None:
        super().__init__(sandbox)
        self.project, self.path = project, path

    def with_packages(self, packages: InstalledPackages) -> "ProjectSandbox":
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

        `timeout_s` replaces the limit of a project.
        Raises SandboxError if the tests are not files, or are to run as doctests.
        """
        if isinstance(tests, str) or doctests:
            raise SandboxError("in a project, tests run as its own files")
        files = self.project.all_files
        changed = {i.name: i.code for i in tests if files.get(i.name) != encode_source(i.code)}
        added = tuple(name for name in changed if name not in files)
        project = self.project.with_overlay({self.path: code, **changed})
        targets = (*self.project.targets, *added)
        project = project.model_copy(update={"targets": targets})
        return self.run_project(project, timeout_s=timeout_s, **options)

    def place_trial(self, module: str, code: str, tests: Sequence[TestFile]) -> TrialFiles:
        """Return the files of trials in the project."""
        texts = {item.name: item.code for item in tests}
        project = self.project.with_overlay({self.path: code, **texts})
        targets = [f"./{name}" for name in self.project.targets or texts]
        placed = place_project(self, project)
        payload = {"path": self.path, "args": targets, **placed.payload}
        return replace(placed, payload=payload)

    def read_test(self, file: TestFile) -> tuple[str, str]:
        """Return a test file and its conftest files, with absolute names in their imports."""
        files = self.project.all_files
        texts = {file.name: file.code}
        for folder in reversed(PurePosixPath(file.name).parents):
            path = str(folder / "conftest.py")
            if path in files and path != file.name:
                texts[path] = files[path].decode("utf-8", "replace")
        full = {path: name_imports_fully(text, path, files) for path, text in texts.items()}
        return full.pop(file.name), "\n".join(full.values())

    def find_path(self, file: TestFile) -> str:
        """Return the path of a test file in runs: absolute, or relative to the working folder."""
        return f"{self.environment.root}/{file.name}" if self.environment else file.name

    def list_imported_tests(self, file: TestFile) -> dict[str, str]:
        """Return the other files of test folders that a test file imports, by path."""
        files = self.project.all_files
        full = name_imports_fully(file.code, file.name, files)
        folder = file.name.rpartition("/")[0]
        names = (name.replace(".", "/") for name in list_imported_names(parse_or_empty(full)))
        paths = (
            f"{root}{name}{end}"
            for name in names
            for root in ("", "src/", f"{folder}/" if folder else "")
            for end in (".py", "/__init__.py")
        )
        chosen = (path for path in paths if path in files and is_test_path(path))
        own = (file.name, self.path)
        return {path: files[path].decode("utf-8", "replace") for path in chosen if path not in own}

    def get_path(self, module: str) -> str:
        return self.path

    def observe(
        self,
        code: str,
        module: str,
        programs: str,
        *,
        beside: Sequence[TestFile] = (),
        timeout_s: float | None = None,
        hash_seed: int = HASH_SEED,
        configured_for: str | None = None,
    ) -> Observations:
        """Run programs in a copy of the project without its tests; `beside` is not supported.

        The copy contains the modules and data that tests use. With `configured_for`, a test file,
        pytest is configured first, as it is before that file's tests.
        """
        if beside:
            return Observations((), "in a project no program runs beside the tests")
        project = self.project.with_overlay({self.path: code})
        files = project.all_files.items()
        kept = "" if configured_for is None else "conftest.py"
        tests = [path for path, content in files if _is_test(path, content, kept)]
        placed = place_project(self, project, tests)
        levels = module.count(".") + (2 if self.path.endswith("/__init__.py") else 1)
        roots = ["/".join(self.path.split("/")[:-levels])]
        payload = {"module": module, "programs": programs, "import_roots": roots, **placed.payload}
        kind = "observation"
        if configured_for is not None:
            kind = "configured-observation"
            payload["args"] = [f"./{configured_for.rpartition('/')[0]}"]
        job = Job(kind, (), payload, hash_seed, self.packages, timeout_s, tree=placed.tree)
        return observe_job(self, job)


def _is_test(path: str, content: bytes, kept: str) -> bool:
    """Whether a file has tests, or is a conftest: settings and helpers may have a test's name."""
    name = path.rpartition("/")[2]
    if not has_test_name(path) or name == kept:
        return False
    return name == "conftest.py" or _TEST.search(content) is not None
