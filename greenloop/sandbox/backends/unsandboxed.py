"""No sandbox (`--sandbox none`): a process with a clean environment and limits, but no isolation.

The code does not see the environment variables of this machine (so not its keys); time, memory and
output are limited, and no verdict is taken from an exit status. Files and the network are not
protected, as `info` and the terminal say. Besides, unlike in a sandbox:

- `/proc/<parent>/environ` can be read; it holds the variables that this process was started with.
- Processes that leave the group (`setsid`) are found by their environment and killed after the run;
  one that cleans its environment too stays alive. The number of processes is not limited.
- Memory is limited for each process and disk space for each file, not for all together.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
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
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.guest.files.collector import collect_created_files
from greenloop.sandbox.guest.files.writer import write_job_files
from greenloop.sandbox.guest.pytest_plugin.config import ini_file
from greenloop.sandbox.job import Job
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.backend import JobPaths, build_payload

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
        with self._create_folder() as root:
            work, home, temporary = (str(root / name) for name in ("work", "home", "tmp"))
            paths = JobPaths(work, home, temporary, "", job.packages.folder)
            result = self._run_process(root, paths, job)
            if job.artifact_request is None:
                return result
            created = collect_created_files(paths.work, job.artifact_request)
            manifest, contents = created.to_summary(), bytes(created.contents)
            artifacts = replace(result.artifacts, manifest=manifest, contents=contents)
            return replace(result, artifacts=artifacts)

    @contextlib.contextmanager
    def _create_folder(self) -> Iterator[Path]:
        root = create_temporary_folder()
        try:
            yield root
        finally:
            kill_stray_processes(f"HOME={root}/home")
            remove_folder(root)

    def _run_process(self, root: Path, paths: JobPaths, job: Job) -> ProcessResult:
        limits, job_file = job.apply_limits(self.limits), root / "job.json"
        content = {**build_payload(job, paths), "ini": ini_file(), "limits": limits.to_guest()}
        environment = content.pop("environment")
        try:
            for folder in (paths.work, paths.home, paths.temporary):
                os.mkdir(folder)
            write_job_files(content)
            job_file.write_text(json.dumps(content), encoding="utf-8")
        except OSError as error:
            raise SandboxError(f"the run's files cannot be written: {error}") from None
        bootstrap = Path(guest.__file__).parent / "bootstrap.py"
        command = [sys.executable, "-s", "-B", str(bootstrap), str(job_file), "{fd}", "{where}"]
        try:
            return run_process(
                command,
                folder=Path(paths.work),
                environment=environment,
                limits=limits,
                stop=self._stop_event(job),
                separate_stderr=job.kind == "script",
            )
        except OSError as error:
            raise SandboxError(f"the test process cannot be started: {error}") from None
