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

from ..isolation import syscalls as k
from ..isolation.null_device import redirect_to_null
from ..limits.proc_stats import read_address_space

_MEMORY_SHARE = 4


class Workspaces:
    """One workspace a slot, emptied between two trials."""

    def __init__(self, work: str, jobs: int, total_bytes: int, guest_fds: Iterable[int]) -> None:
        """`work` holds the run's files, which each workspace gets copies of.

        No fork shares what `guest_fds` lead to with another one.
        """
        self._guest_fds = list(guest_fds)
        self._base, self._work = tempfile.mkdtemp(prefix="workspace-"), work
        self._files = [name for name in os.listdir(work) if os.path.isfile(f"{work}/{name}")]
        self._spare_bytes = total_bytes // (_MEMORY_SHARE * jobs)
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

    def share_memory(self, count: int) -> None:
        """Let as many times the forks share the memory."""
        self._spare_bytes //= count

    def clean(self, slot: int) -> None:
        """Empty a workspace; rename it if something cannot be removed (modes, depth)."""
        folder = f"{self._base}/{slot}"
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            self._abandoned_count += 1
            with suppress(OSError):
                os.rename(folder, f"{self._base}/left-{self._abandoned_count}")


def set_parent_death_signal() -> None:
    """Kill this process when its parent ends (Linux only)."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)


def become_subreaper() -> None:
    """Make orphaned descendants children of this process, so that it can kill them."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)
