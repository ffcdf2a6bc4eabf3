"""Events of work without a model: measurements, and jobs of the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class WorkStarted(NamedTuple):
    """Local work starts, such as a test run; several go on at once under different names."""

    name: str


class WorkEnded(NamedTuple):
    name: str


class SandboxJobStarted(NamedTuple):
    """A sandbox job of this `kind` starts; `key` is unique. Emitted from any thread."""

    key: str
    kind: str


class SandboxJobProgress(NamedTuple):
    """The job says that it has done `done` tests or mutants of `total` (0: not known).

    Untrusted code may have written the number. Emitted from any thread.
    """

    key: str
    kind: str
    done: int
    total: int = 0


@dataclass(frozen=True)
class SandboxJobEnded:
    """The job with this `key` has ended; `output` is what it printed."""

    key: str
    ending: str
    seconds: float
    output: str = field(default="", compare=False, repr=False)
