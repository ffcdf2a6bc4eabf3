"""Workspace of a fork: working folder, folder for temporary files, memory limit."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ..isolation import syscalls as k
from ..isolation.null_device import redirect_to_null
from ..limits.proc_stats import read_address_space

_MEMORY_SHARE = 4
# Audit events of a process that is started; what it uses is not noticed.
_STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Workspaces:
    """One workspace a slot, emptied between two trials."""

    def __init__(self, work: str, jobs: int, total_bytes: int, guest_fds: Iterable[int]) -> None:
        """`work` holds the run's files, which each workspace gets copies of.

        No fork shares what `guest_fds` lead to with another one.
        """
        self._guest_fds = list(guest_fds)
        self._base, self._work = tempfile.mkdtemp(prefix="workspace-"), work
        self._files = [name for name in os.listdir(work) if os.path.isfile(f"{work}/{name}")]
        self._total_bytes = total_bytes
        self.share_memory(jobs)
        self.peak_bytes = self._abandoned_count = 0

    def enter(self, slot: int, set_temp_folder: Callable[[str], None]) -> None:
        """In a fork: enter its workspace before untrusted code runs."""
        set_parent_death_signal()
        folder = f"{self._base}/{slot}"
        os.makedirs(f"{folder}/work")
        os.mkdir(f"{folder}/tmp")
        for name in self._files:
            shutil.copyfile(f"{self._work}/{name}", f"{folder}/work/{name}")
        os.chdir(f"{folder}/work")
        os.environ["TMPDIR"], tempfile.tempdir = f"{folder}/tmp", None
        set_temp_folder(f"{folder}/tmp/pytest")
        redirect_to_null(self._guest_fds)
        self._limit_memory()

    def _limit_memory(self) -> None:
        """Limit memory to the baseline's peak and a share of the run's total limit."""
        if not self.peak_bytes:
            return
        limit = max(self.peak_bytes, read_address_space("VmSize")) + self._spare_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def share_memory(self, forks: int) -> None:
        """Let so many forks at a time share what trials may use of the run's memory."""
        self._spare_bytes = self._total_bytes // (_MEMORY_SHARE * forks)

    def clean(self, slot: int) -> None:
        """Empty a workspace; rename it if something cannot be removed (modes, depth)."""
        folder = f"{self._base}/{slot}"
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            self._abandoned_count += 1
            with suppress(OSError):
                os.rename(folder, f"{self._base}/left-{self._abandoned_count}")


class OutsideUse:
    """Notices what this process has in common with other forks: fixed ports, and files that it writes.

    Trials side by side would fail by each other. Not seen is what its subprocesses use, but that
    there are any.
    """

    def __init__(self) -> None:
        """The workspace of a fork, which it has for itself, is around the current folder."""
        self._own_folder = os.path.dirname(os.getcwd()) + os.sep
        self.is_seen = self.starts_processes = False

    def watch(self) -> None:
        """Watch from now on, up to the end of the process."""
        sys.addaudithook(self._notice)

    def describe(self) -> dict[str, bool]:
        """Return what was noticed, as `ListeningSockets.shares` reads it."""
        return {"uses_outside": self.is_seen, "starts_processes": self.starts_processes}

    def _notice(self, event: str, details: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self.starts_processes = True
        if self.is_seen or event not in ("socket.bind", "open", "os.mkdir", "sqlite3.connect"):
            return
        with suppress(Exception):  # it would end what the code under test does
            if event == "socket.bind":
                self.is_seen = self._is_common_address(details[1])
            elif event != "open" or details[2] & _WRITING:
                self.is_seen = self._is_outside(details[0])

    def _is_common_address(self, address: Any) -> bool:
        if isinstance(address, tuple):
            return bool(address[1])  # port 0 is one that nobody has
        return os.fsencode(address).startswith(b"\0") or self._is_outside(address)

    def _is_outside(self, path: Any) -> bool:
        if isinstance(path, int) or path in (os.devnull, ":memory:", ""):
            return False
        return not os.path.abspath(os.fsdecode(path)).startswith(self._own_folder)


def set_parent_death_signal() -> None:
    """Kill this process when its parent ends (Linux only)."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)


def become_subreaper() -> None:
    """Make orphaned descendants children of this process, so that it can kill them."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)
