"""No sandbox (`--sandbox none`): a process of its own, a clean environment, limits. No wall.

It keeps this machine's environment variables (so its keys) out of the code, bounds time, memory
and output, and takes no verdict from an exit status. It does not keep files or the network out of
reach: `info` says so, and so does the screen. What else a wall would give and this does not:

- `/proc/<parent>/environ` is a file within reach, and holds what this process was started with.
- Processes that leave the group (`setsid`) are found by their environment and ended after the run;
  one that cleans its environment too stays alive. The number of processes is not limited.
- Memory is limited for each process, disk for each file, not for all of them together.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
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
from greenloop.sandbox.backends.subprocess_runner import ProcessBounds, run_process
from greenloop.sandbox.base import BaseSandbox, build_environment
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


class ProcessSandbox(BaseSandbox):
    """See the module's text. Safe to use from several threads."""

    @property
    def info(self) -> SandboxInfo:
        return _INFO

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        with self._create_directory() as room:
            for name, text in job.files:
                (room.work / name).write_bytes(text.encode("utf-8", "surrogatepass"))
            self._write_files(room, job)
            ended = self._run(room, job, stop)
            if job.artifact_request is None:
                return ended
            left = ended.artifacts.with_files(
                collect_created_files(str(room.work), job.artifact_request)
            )
            return replace(ended, artifacts=left)

    def _write_files(self, directory: JobDirectory, job: Job) -> None:
        """Raises SandboxError where this machine has no room for it."""
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

    def _run(self, directory: JobDirectory, job: Job, stop: threading.Event) -> ProcessResult:
        folder = Path(guest.__file__).parent
        place = {"work": str(directory.work), "key": job.key, "ini": ini_file()}
        limits = self.limits_for(job)
        content = {**job.payload, **place, "kind": job.kind, "limits": limits.to_guest()}
        directory.job_file.write_text(json.dumps(content), encoding="utf-8")
        command = [
            *self._python_command(directory),
            str(folder / "bootstrap.py"),
            str(directory.job_file),
            "{fd}",
            "{where}",
        ]
        bounds = ProcessBounds(limits.timeout_s, limits.output_bytes, limits.kept_bytes)
        place_of = (str(directory.home), str(directory.temporary))
        variables = build_environment(*place_of, job.hash_seed, job.packages)
        try:
            return run_process(
                command,
                folder=directory.work,
                environment={**variables, **self._package_environment(job)},
                bounds=bounds,
                stop=stop,
                separate_stderr=job.kind == "script",
            )
        except OSError as error:
            raise SandboxError(f"the test process cannot be started: {error}") from None

    def _python_command(self, directory: JobDirectory) -> list[str]:
        """How Python is started for a run."""
        return [sys.executable, "-s", "-B"]

    def _package_environment(self, job: Job) -> dict[str, str]:
        """Variables that say where packages are which this Python does not know of."""
        return {"PYTHONPATH": job.packages.folder} if job.packages else {}


@dataclass(frozen=True)
class JobDirectory:
    """One run's temporary folder: the working folder, a home, a place for temporary files."""

    root: Path
    work: Path
    home: Path
    temporary: Path
    job_file: Path

    @classmethod
    def create(cls, root: Path) -> JobDirectory:
        room = cls(root, *(root / name for name in ("work", "home", "tmp", "job.json")))
        for folder in (room.work, room.home, room.temporary):
            folder.mkdir()
        return room
