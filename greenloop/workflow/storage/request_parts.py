"""Parts of requests: files that the user gives, and how a script or a project is run."""

from __future__ import annotations

import hashlib
from pathlib import Path

from greenloop.files import check_python, read_text
from greenloop.records import OutputCheck, Record
from greenloop.testsuite import TestFile


class GivenTests(Record):
    """A locked test file of the user, with the SHA-256 digest of its text."""

    name: str
    code: str
    sha256: str

    @classmethod
    def from_code(cls, name: str, code: str) -> GivenTests:
        return cls(name=name, code=code, sha256=digest(code))

    @classmethod
    def read(cls, path: Path, label: str, name: str = "") -> GivenTests:
        """Read a file, which `label` names in messages. Raises InputError."""
        code = read_text(path, label)
        check_python(code, f"{label} is")
        return cls.from_code(name or path.name, code)

    def as_test_file(self) -> TestFile:
        return TestFile(self.name, self.code, locked=True)


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


def digest(text: str) -> str:
    """Return the SHA-256 digest of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
