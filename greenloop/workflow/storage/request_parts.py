"""Parts of requests: files that the user gives, and how a script or a project is run."""

from __future__ import annotations

from pathlib import Path

from greenloop.records import OutputCheck, Record


class InputRef(Record):
    """A file that a script reads: `path` in the sandbox, `source` on the host."""

    path: str
    source: str
    sha256: str


class ScriptSpec(Record):
    """How a script is run and what its output is checked for."""

    name: str  # of its file
    arguments: tuple[str, ...] = ()
    stdin: InputRef | None = None
    inputs: tuple[InputRef, ...] = ()
    checks: tuple[OutputCheck, ...] = ()
    agreed: tuple[OutputCheck, ...] | None = None  # edited by the user: they replace the model's
    allow_network: tuple[str, ...] = ()
    artifacts: str | None = None


class OriginalFile(Record):
    """The file to heal, as it was when the run began. `sha256` is the digest of its bytes."""

    path: str
    text: str
    sha256: str

    @property
    def name(self) -> str:
        return Path(self.path).name


class ProjectRequest(Record):
    """A project whose layout the tests need: its root, and the module and tests relative to it."""

    root: str
    path: str
    targets: tuple[str, ...]
