"""What each fork gets for itself: a working folder, a place for temporary files, a memory limit."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress

from ..isolation import syscalls as k
from ..limits.proc_stats import read_address_space

_MEMORY_SHARE = 4


class Workspaces:
    """One room a slot. What a mutant leaves lying there is gone before the next one comes."""

    def __init__(self, work: str, jobs: int, total_bytes: int) -> None:
        """`work` holds the run's files; each room gets copies of them."""
        self._base, self._work = tempfile.mkdtemp(prefix="room-"), work
        self._files = [name for name in os.listdir(work) if os.path.isfile(f"{work}/{name}")]
        self._spare_bytes = total_bytes // (_MEMORY_SHARE * jobs)
        self.peak_bytes = self._abandoned_count = 0

    def enter(self, slot: int, set_temp_folder: Callable[[str], None]) -> None:
        """In a fork that is about to run foreign code."""
        set_parent_death_signal()
        folder = f"{self._base}/{slot}"
        os.makedirs(f"{folder}/work")
        os.mkdir(f"{folder}/tmp")
        for name in self._files:
            shutil.copyfile(f"{self._work}/{name}", f"{folder}/work/{name}")
        os.chdir(f"{folder}/work")
        os.environ["TMPDIR"], tempfile.tempdir = f"{folder}/tmp", None
        set_temp_folder(f"{folder}/tmp/pytest")
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.close(nothing)
        self._limit_memory()

    def _limit_memory(self) -> None:
        """As much as the healthy run had and some more: all mutants at once stay below the whole."""
        if not self.peak_bytes:
            return
        most = max(self.peak_bytes, read_address_space("VmSize")) + self._spare_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def clean(self, slot: int) -> None:
        """What cannot be removed (rights taken away, folders a thousand deep) is put aside."""
        folder = f"{self._base}/{slot}"
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            self._abandoned_count += 1
            with suppress(OSError):
                os.rename(folder, f"{self._base}/left-{self._abandoned_count}")


def set_parent_death_signal() -> None:
    """Where the kernel can: what is left of a run must not outlive it."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)


def become_subreaper() -> None:
    """Descendants whose parent is gone come to this process, so that it can end them."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)
