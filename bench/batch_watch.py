"""Memory and descriptors of a batch process while it runs, from /proc."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_EVERY_S = 1.0
_EARLY = 0.1  # share of the specifications after which everything is loaded and the sandbox is open


@dataclass(frozen=True)
class Look:
    """A sample: resident MB and open descriptors when `done` specifications have a result."""

    done: int
    memory_mb: float
    descriptors: int


@dataclass
class Looks:
    """Samples, one a second."""

    taken: list[Look] = field(default_factory=list)

    def describe(self, count: int) -> str:
        """Describe the change from a tenth of the specifications to the last; '' without two samples."""
        later = [look for look in self.taken if count * _EARLY <= look.done < count]
        if len(later) < 2:
            return ""
        first, last = later[0], later[-1]
        return (
            f"memory {first.memory_mb:.0f} -> {last.memory_mb:.0f} MB,"
            f" descriptors {first.descriptors} -> {last.descriptors}"
            f" (at {first.done} and {last.done} done)"
        )


@contextlib.contextmanager
def looking(folder: Path) -> Iterator[Looks]:
    """Sample the batch that runs in `folder` from its start to its end."""
    looks, ended = Looks(), threading.Event()

    def look() -> None:
        while not ended.wait(_EVERY_S):
            with contextlib.suppress(OSError, IndexError, ValueError):
                looks.taken.append(_look(_process(folder), folder))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join()


def _process(folder: Path) -> Path:
    """Return the /proc folder of the command that runs in a folder (under perf, perf's child)."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                words = (place / "cmdline").read_bytes().split(b"\0")
                if words[1:4] == [b"-m", b"greenloop", b"batch"] and _works_in(place, folder):
                    return place
    raise OSError("not there yet")


def _works_in(place: Path, folder: Path) -> bool:
    return os.readlink(place / "cwd") == str(folder.resolve())


def _look(place: Path, folder: Path) -> Look:
    results = next(iter(folder.glob(".greenloop/batches/*/results.jsonl")), None)
    done = results.read_bytes().count(b"\n") if results else 0
    pages = int((place / "statm").read_text().split()[1])
    memory_mb = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Look(done, memory_mb, len(os.listdir(place / "fd")))
