"""No sandbox (`--sandbox none`): a process with a clean environment and limits, but no isolation.

The code does not see the environment variables of this machine (so not its keys); time, memory and
output are limited, and no verdict is taken from an exit status. Files and the network are not
protected, as `info` and the terminal say. Besides, unlike in a sandbox:

- `/proc/<parent>/environ` can be read; it holds the variables that this process was started with.
- Processes that leave the group (`setsid`) are found by their environment and killed after the run;
  one that cleans its environment too stays alive. The number of processes is not limited.
- Memory is limited for each process and disk space for each file, not for all together.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox import guest
from greenloop.sandbox.backends.cleanup import (
    create_temporary_folder,
    kill_stray_processes,
    remove_folder,
)
from greenloop.sandbox.backends.subprocess_runner import run_process
from greenloop.sandbox.base import Sandbox, build_environment
from greenloop.sandbox.guest.files.collector import collect_created_files
from greenloop.sandbox.guest.files.writer import stdin_path, write_tree
from greenloop.sandbox.guest.pytest_plugin.config import ini_file
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult

__all__ = ["ProcessSandbox", "ResourceLimits"]

_INFO = SandboxInfo(
    backend="none",
    isolation=(
        "NONE: this machine's files, network and processes are within reach of the code; only the "
        "environment is clean, and time, output and the memory of each process are limited"
    ),
)


class ProcessSandbox(Sandbox):
    """Runs each job in a new process without isolation; see the module's docstring."""

    info = _INFO

    def run(self, job: Job) -> ProcessResult:
        job = replace(job, stop_events=(self._stop_event(job),))
        with self._create_directory() as directory:
            for name, text in job.files:
                (directory.work / name).write_bytes(text.encode("utf-8", "surrogatepass"))
            self._write_files(directory, job)
            result = self._run_process(directory, job)
            if job.artifact_request is None:
                return result
            created = collect_created_files(str(directory.work), job.artifact_request)
            return replace(result, artifacts=result.artifacts.with_files(created))

    def _write_files(self, directory: JobDirectory, job: Job) -> None:
        """Write the tree and standard input. Raises SandboxError where that fails."""
        files = {str(directory.work / path): content for path, content in job.tree}
        is_script = job.kind == "script"
        if is_script:
            files[stdin_path(str(directory.temporary))] = job.stdin
        try:
            write_tree(files, read_only=is_script)
        except OSError as error:
            raise SandboxError(f"the run's files cannot be written: {error}") from None

    @contextlib.contextmanager
    def _create_directory(self) -> Iterator[JobDirectory]:
        root = create_temporary_folder()
        try:
            yield JobDirectory.create(root)
        finally:
            kill_stray_processes(f"HOME={root}/home")
            remove_folder(root)

    def _run_process(self, directory: JobDirectory, job: Job) -> ProcessResult:
        limits = job.apply_limits(self.limits)
        content = {
            **job.payload,
            "work": str(directory.work),
            "key": job.key,
            "ini": ini_file(),
            "kind": job.kind,
            "limits": limits.to_guest(),
        }
        directory.job_file.write_text(json.dumps(content), encoding="utf-8")
        bootstrap = Path(guest.__file__).parent / "bootstrap.py"
        folders = str(directory.home), str(directory.temporary)
        variables = build_environment(*folders, job.hash_seed, job.packages)
        try:
            return run_process(
                [
                    *self._python_command(directory),
                    str(bootstrap),
                    str(directory.job_file),
                    "{fd}",
                    "{where}",
                ],
                folder=directory.work,
                environment={**variables, **self._package_environment(job)},
                limits=limits,
                stop=self._stop_event(job),
                separate_stderr=job.kind == "script",
            )
        except OSError as error:
            raise SandboxError(f"the test process cannot be started: {error}") from None

    def _python_command(self, directory: JobDirectory) -> list[str]:
        """Return the command that starts Python."""
        return [sys.executable, "-s", "-B"]

    def _package_environment(self, job: Job) -> dict[str, str]:
        """Return variables that name the folders of packages unknown to this Python."""
        return {"PYTHONPATH": job.packages.folder} if job.packages else {}


@dataclass(frozen=True)
class JobDirectory:
    """Temporary folder of one run: working folder, home, folder for temporary files, job file."""

    root: Path
    work: Path
    home: Path
    temporary: Path
    job_file: Path

    @classmethod
    def create(cls, root: Path) -> JobDirectory:
        directory = cls(root, *(root / name for name in ("work", "home", "tmp", "job.json")))
        for folder in (directory.work, directory.home, directory.temporary):
            folder.mkdir()
        return directory
