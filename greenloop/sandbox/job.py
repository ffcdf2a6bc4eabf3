"""Job: the work of one sandbox process."""

import os
import secrets
import sys
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox.guest.entrypoints import KINDS_WITHOUT_PYTEST
from greenloop.sandbox.limits import ResourceLimits, stretch

_SCRIPT_OUTPUT_BYTES = 1 << 20  # kept of each stream: the output is the purpose of a script
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class Job:
    """One run: its kind (see `guest.entrypoints`), files, packages and limits."""

    kind: str
    files: tuple[tuple[str, str], ...]  # (name, text) pairs of the working folder
    payload: dict[str, Any]  # input of the entry point of this kind
    hash_seed: int = 0
    packages: InstalledPackages = field(default_factory=InstalledPackages)
    timeout_s: float | None = None  # the time limit, if it differs from that of the sandbox
    # (path, content) pairs; only scripts and projects have files in folders.
    tree: tuple[tuple[str, bytes], ...] = ()
    stdin: bytes = b""  # standard input of a script
    # Selects the files to return among those that a script creates.
    artifact_request: dict[str, Any] | None = None
    # Events that interrupt the run, besides those of the sandbox.
    stop_events: tuple[threading.Event, ...] = ()
    items: int = 0  # the number of its tests or mutants, 0 if unknown
    # Called with the number of finished tests or mutants, if the backend knows it.
    on_progress: Callable[[int], None] | None = None
    # The secret with which each report of the run begins.
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        names = [name for name, _ in self.files]
        for name in names:
            if "/" in name or "\0" in name or name in ("", ".", ".."):
                raise ValueError(f"not a plain file name: {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"two files of the name {name!r}")

    @property
    def zygote_seed(self) -> int:
        """Hash seed of the zygote that serves the job; test runs have a zygote for each seed."""
        if self.kind == "tests":
            return self.hash_seed
        return 0 if self.has_pytest else HASH_SEED

    @property
    def zygote_kinds(self) -> tuple[str, ...]:
        """Kinds of jobs of the zygote that serves the job, () for all.

        The zygote of repeated tests loads less: so they reveal a missing import that another kind's
        import would hide.
        """
        return (self.kind,) if self.zygote_seed else ()

    @property
    def is_cold(self) -> bool:
        """Whether a new interpreter is started because the job's zygote has another seed."""
        if self.kind == "observation":
            return self.hash_seed != self.zygote_seed
        return self.hash_seed not in (0, self.zygote_seed)

    @property
    def has_pytest(self) -> bool:
        """Whether the job's process has pytest loaded; observed code must find no trace of it."""
        return self.kind not in KINDS_WITHOUT_PYTEST

    def apply_limits(self, limits: ResourceLimits) -> ResourceLimits:
        """Return the limits of a sandbox, adapted to this job.

        The default wall-clock limit is longer on a busy machine; the limit of CPU time is not.
        """
        if self.timeout_s is not None:
            limits = replace(limits, timeout_s=self.timeout_s, cpu_s=None)
        elif limits.timeout_s == ResourceLimits().timeout_s:
            wall_s = float(round(stretch(limits.timeout_s)))
            limits = replace(limits, timeout_s=wall_s, cpu_s=limits.cpu_seconds)
        if self.kind == "script":
            limits = replace(limits, kept_bytes=max(limits.kept_bytes, _SCRIPT_OUTPUT_BYTES))
        return limits


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """Files of a trial, as in `Job`, and a payload that locates the module and its tests."""

    files: tuple[tuple[str, str], ...]
    tree: tuple[tuple[str, bytes], ...]
    payload: dict[str, Any]


def choose_hash_seed() -> int:
    """Return a seed that is fixed until the machine restarts; never 0, the seed of all other runs.

    So a repeat gives the same verdict, and code cannot know the seed in advance: a known seed would
    reveal, by the hash of a text, that the code is observed.
    """
    try:
        boot = _BOOT_ID.read_text("ascii")
    except OSError:  # not on Linux
        boot = ""
    parts = (boot, os.uname().nodename, sys.prefix)
    return 1 + zlib.crc32("\0".join(parts).encode()) % _MAX_SEED


HASH_SEED = choose_hash_seed()
