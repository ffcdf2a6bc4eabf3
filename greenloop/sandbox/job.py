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
from greenloop.sandbox.limits import ResourceLimits, stretch

_SCRIPT_OUTPUT_BYTES = 1 << 20  # kept of each stream: the output is the purpose of a script
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class Job:
    """One run: its kind (see `guest.entrypoints`), its files, and what it may use."""

    kind: str
    files: tuple[tuple[str, str], ...]  # (name, text) pairs of the working folder
    payload: dict[str, Any]  # what the entry point of this kind reads
    hash_seed: int = 0
    packages: InstalledPackages = field(default_factory=InstalledPackages)
    timeout_s: float | None = None  # the time limit, where it differs from that of the sandbox
    # (path, content) pairs; only scripts and projects have files in folders.
    tree: tuple[tuple[str, bytes], ...] = ()
    stdin: bytes = b""  # standard input of a script
    # Which of the files that a script creates are returned.
    artifact_request: dict[str, Any] | None = None
    # Events that interrupt the run, besides those of the sandbox.
    stop_events: tuple[threading.Event, ...] = ()
    items: int = 0  # the number of its tests or mutants, 0 where it is not known
    # Gets how many tests or mutants are done, where the backend knows it.
    on_progress: Callable[[int], None] | None = None
    # The secret that each report of the run begins with.
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
        """The hash seed of the zygote that serves the job: tests have their own."""
        if self.kind == "tests":
            return self.hash_seed
        return 0 if self.has_pytest else HASH_SEED

    @property
    def is_cold(self) -> bool:
        """Whether a new interpreter is started, as the zygote that serves it has another seed."""
        if self.kind == "observation":
            return self.hash_seed != self.zygote_seed
        return self.hash_seed not in (0, self.zygote_seed)

    @property
    def has_pytest(self) -> bool:
        """Whether the job runs where pytest is loaded, of which observed code must find no trace."""
        return self.kind != "observation"

    def apply_limits(self, limits: ResourceLimits) -> ResourceLimits:
        """Return the limits of a sandbox as they hold for this job.

        Where nobody named a time, it is longer on a busy machine; that of the processor is not.
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
    """The files of a trial, as those of `Job`, and where the module and its tests are."""

    files: tuple[tuple[str, str], ...]
    tree: tuple[tuple[str, bytes], ...]
    payload: dict[str, Any]


def choose_hash_seed() -> int:
    """Return the seed of this machine until it is started again; never 0, that of all other runs.

    A repeat gives the same verdict. Code cannot know the seed in advance: a known one would tell it
    by the hash of a text that it is observed.
    """
    try:
        boot = _BOOT_ID.read_text("ascii")
    except OSError:  # not on Linux
        boot = ""
    parts = (boot, os.uname().nodename, sys.prefix)
    return 1 + zlib.crc32("\0".join(parts).encode()) % _MAX_SEED


HASH_SEED = choose_hash_seed()
