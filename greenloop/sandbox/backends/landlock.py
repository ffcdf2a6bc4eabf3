"""The sandbox for machines that give no namespaces: Landlock, filters, and one process a run."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.cleanup import create_temporary_folder, remove_folder
from greenloop.sandbox.backends.mounts import PACKAGES, GuestMounts, build_guest_mounts, link_site
from greenloop.sandbox.backends.namespaces import Backend, build_zygote_command
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.backend import JobPaths, WarmSandbox, build_payload

_INFO = SandboxInfo(
    backend="landlock",
    isolation=(
        "good: no files but the interpreter's and its own, no network, no other processes, by "
        "Landlock and a system-call filter, without namespaces; a run is one process and can start "
        "no other; limits on time, memory and output, while threads and disk are watched; names "
        "and sizes of this machine's files can be asked for; shares the kernel"
    ),
)
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_NOBODY_UID, _REMOVAL_SECONDS, _ACCESS_CHECK_SECONDS = 65534, 5.0, 30.0
# Can somebody who owns nothing here use this Python, and be given a folder?
_ACCESS_CHECK_CODE = (
    "import ctypes, os, resource, sys\n"
    "for path in sys.argv[1:]:\n"
    "    os.listdir(path) if os.path.isdir(path) else open(path).close()\n"
)


class LandlockSandbox(WarmSandbox):
    """Warm as behind the stronger walls; each run has a folder of this machine's for itself.

    Where this is root and the interpreter can be read by everybody, each run is a user of its own;
    else it is whoever we are, without capabilities.
    """

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        """Raises SandboxError where no temporary folder can be made."""
        self._folder = _SharedFolder.create(build_guest_mounts())
        self._numbers = itertools.count()
        super().__init__(self._create_backend(), limits)

    @property
    def can_isolate(self) -> bool:
        return False  # without namespaces each process could reach the other

    @property
    def can_allow_hosts(self) -> bool:
        return False  # without a network of its own a run gets no sockets at all

    def _create_backend(self) -> Backend:
        folder = self._folder

        def command(seen: GuestMounts, control: int) -> list[str]:
            packages = [source for source, target in seen.read_only if target == PACKAGES]
            return build_zygote_command(
                sys.executable,
                str(folder.home),
                [str(folder.site), *packages],
                control,
                root=str(folder.root),
                modules=seen.modules,
                plugins=seen.plugins,
                is_bare=seen.is_bare,
            )

        return Backend(_INFO, command)

    def close(self) -> None:
        super().close()
        _remove_with_retries(self._folder.root)

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        with self._create_run_folder() as room:
            packages = [job.packages.folder] if job.packages else []
            own = {
                "root": str(room),
                "readable": [*self._folder.readable, *packages],
                "own_user": self._folder.has_own_user,
            }
            work_dir, home, temporary = (str(room / name) for name in ("work", "home", "tmp"))
            place = JobPaths(work_dir, home, temporary, str(self._folder.site), "".join(packages))
            return self._run_payload({**build_payload(job, {}, place), **own}, job, stop)

    @contextlib.contextmanager
    def _create_run_folder(self) -> Iterator[Path]:
        room = self._folder.root / f"run-{next(self._numbers)}"
        try:
            room.mkdir(0o700)
        except OSError as error:
            raise SandboxError(f"no temporary directory for the tests: {error}") from None
        try:
            yield room
        finally:
            _remove_with_retries(room)


@dataclass(frozen=True)
class _SharedFolder:
    """Where runs have their rooms; pytest by links; `home` of the inside; what runs may read."""

    root: Path
    site: Path
    home: Path
    readable: list[str]
    has_own_user: bool

    @classmethod
    def create(cls, mounts: GuestMounts) -> _SharedFolder:
        root = create_temporary_folder()
        site = root / "site"
        site.mkdir()
        link_site(mounts, site)
        guest = next(source for source, target in mounts.read_only if target.endswith("/guest"))
        paths = [str(site), *(source for source, _ in mounts.read_only)]
        for folder in (root, site):
            folder.chmod(0o711 if folder == root else 0o755)
        own_user = os.getuid() == 0 and _is_usable_by_others(mounts, paths)
        if not own_user:
            root.chmod(0o700)
        return cls(root, site, Path(guest).parent, [*paths, *_DEVICES], own_user)


def _is_usable_by_others(mounts: GuestMounts, paths: list[str]) -> bool:
    paths = [path for path in paths if os.path.exists(path)]
    try:
        asked = subprocess.run(
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
    return asked.returncode == 0


def _remove_with_retries(folder: Path) -> None:
    """A run that was interrupted may still be about to end: it is waited for."""
    until = time.monotonic() + _REMOVAL_SECONDS
    while folder.exists() and time.monotonic() < until:
        with contextlib.suppress(OSError, RecursionError):
            shutil.rmtree(folder)
            return
        remove_folder(folder)
        time.sleep(0.02)
