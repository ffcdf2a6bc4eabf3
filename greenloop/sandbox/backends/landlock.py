"""Landlock sandbox, for machines without namespaces: one process for each run."""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.cleanup import create_temporary_folder, remove_folder
from greenloop.sandbox.backends.mounts import GuestMounts, build_guest_mounts, link_site
from greenloop.sandbox.backends.namespaces import Backend, ZygoteCommand, build_zygote_command
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.environment import GuestEnvironment
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.backend import JobPaths, WarmSandbox, build_payload

_ISOLATION_TEXT = (
    "good: no files but the interpreter's and its own, no network, no other processes, by Landlock "
    "and a system-call filter, without namespaces; a run is one process and can start no other; "
    "limits on time, memory and output, while threads and disk are watched; names and sizes of this "
    "machine's files can be asked for; shares the kernel"
)
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_NOBODY_UID, _REMOVAL_SECONDS, _ACCESS_CHECK_SECONDS = 65534, 5.0, 30.0
# Fails unless the user who runs it can use this Python and read all given paths.
_ACCESS_CHECK_CODE = (
    "import ctypes, os, resource, sys\n"
    "for path in sys.argv[1:]:\n"
    "    os.listdir(path) if os.path.isdir(path) else open(path).close()\n"
)


class LandlockSandbox(WarmSandbox):
    """Warm sandbox in which each run has its own folder in the host's file system.

    If greenloop runs as root and every user can read the interpreter, each run has its own user id;
    else runs have the current user's id, without capabilities.
    """

    can_fork = False  # because resource usage is measured for one process only

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        """Create the folder of the runs. Raises SandboxError where that fails."""
        self._folder = _SharedFolder.create(build_guest_mounts())
        self._numbers = itertools.count()
        super().__init__(Backend("landlock", _ISOLATION_TEXT, self._build_command), limits)

    def _build_command(self, mounts: GuestMounts, control: int) -> ZygoteCommand:
        home, site, root = map(str, (self._folder.home, self._folder.site, self._folder.root))
        mounts = replace(mounts, python=sys.executable)
        return ZygoteCommand(build_zygote_command(mounts, control, home=home, site=site, root=root))

    def open_environment(self, environment: GuestEnvironment) -> Sandbox:
        return Sandbox.open_environment(self, environment)  # raises: nothing can be mounted

    def close(self) -> None:
        super().close()
        _remove_with_retries(self._folder.root)

    def run(self, job: Job) -> ProcessResult:
        job = replace(job, stop_events=(self._stop_event(job),))
        with self._create_run_folder() as root:
            work, home, temporary = (str(root / name) for name in ("work", "home", "tmp"))
            site = str(self._folder.site)
            paths = JobPaths(work, home, temporary, site, job.packages.folder)
            payload = {
                **build_payload(job, paths),
                "root": str(root),
                "readable": [*self._folder.readable, *filter(None, [job.packages.folder])],
                "own_user": self._folder.has_own_user,
            }
            return self._run_payload(payload, job)

    @contextlib.contextmanager
    def _create_run_folder(self) -> Iterator[Path]:
        folder = self._folder.root / f"run-{next(self._numbers)}"
        try:
            folder.mkdir(0o700)
        except OSError as error:
            raise SandboxError(f"no temporary directory for the tests: {error}") from None
        try:
            yield folder
        finally:
            _remove_with_retries(folder)


@dataclass(frozen=True)
class _SharedFolder:
    """Folder of the sandbox, which contains the folders of its runs."""

    root: Path
    site: Path  # has links to pytest
    home: Path  # holds the guest package
    readable: list[str]  # paths that runs may read
    has_own_user: bool

    @classmethod
    def create(cls, mounts: GuestMounts) -> "_SharedFolder":
        root = create_temporary_folder()
        site = root / "site"
        site.mkdir()
        link_site(mounts, site)
        guest = next(source for source, target in mounts.read_only if target.endswith("/guest"))
        paths = [str(site), *(source for source, _ in mounts.read_only)]
        for folder in (root, site):
            folder.chmod(0o711 if folder == root else 0o755)
        has_own_user = os.getuid() == 0 and _is_usable_by_others(mounts, paths)
        if not has_own_user:
            root.chmod(0o700)
        return cls(root, site, Path(guest).parent, [*paths, *_DEVICES], has_own_user)


def _is_usable_by_others(mounts: GuestMounts, paths: list[str]) -> bool:
    paths = [path for path in paths if os.path.exists(path)]
    try:
        check = subprocess.run(
            [mounts.python, "-I", "-S", "-B", "-c", _ACCESS_CHECK_CODE, *paths],
            user=_NOBODY_UID,
            group=_NOBODY_UID,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_ACCESS_CHECK_SECONDS,
            env={},
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return check.returncode == 0


def _remove_with_retries(folder: Path) -> None:
    """Remove a folder, waiting for an interrupted run that still writes to it."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    remove_folder(folder)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
        remove_folder(folder)
