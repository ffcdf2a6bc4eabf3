"""What a run was asked for: enough to go on with it later. No key is in here."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import Field

from greenloop.records import Command, Contract, OutputCheck, Record
from greenloop.settings import Settings
from greenloop.testsuite import TestFile

_SAVED_SETTINGS = (
    "model",
    "fallback_model",
    "max_repairs",
    "mutants",
    "hardening_rounds",
    "timeout_s",
    "max_tokens",
    "max_cost",
    "sandbox",
    "require",
    "allowed_packages",
    "allow_package",
    "prompts",
)

SavedOptions = dict[str, str | int | float | None]


class GivenTests(Record):
    """A locked test file of the person's, with the digest that it must keep."""

    name: str
    code: str
    sha256: str

    @classmethod
    def from_code(cls, name: str, code: str) -> GivenTests:
        return cls(name=name, code=code, sha256=digest(code))

    def as_test_file(self) -> TestFile:
        return TestFile(self.name, self.code, locked=True)


class InputRef(Record):
    """A file that a script reads: `path` as the script sees it, `source` where it is here."""

    path: str
    source: str
    sha256: str


class ScriptRequest(Record):
    """How a script is run, and what its output is held to. `name` is the file that it runs as.

    `agreed` are checks of the person's in place of those that a model makes of the task.
    """

    name: str
    arguments: tuple[str, ...] = ()
    stdin: InputRef | None = None
    inputs: tuple[InputRef, ...] = ()
    checks: tuple[OutputCheck, ...] = ()
    agreed: tuple[OutputCheck, ...] | None = None
    allow_network: tuple[str, ...] = ()
    artifacts: str | None = None


class OriginalFile(Record):
    """The file that is to be healed, as it was when the run began."""

    path: str
    text: str
    sha256: str  # of its bytes

    @property
    def name(self) -> str:
        return Path(self.path).name


class ProjectRequest(Record):
    """A project whose own layout the tests need: its folder, and in it the file and the tests."""

    root: str
    path: str
    targets: tuple[str, ...]


class RunRequest(Record):
    """One run's input. Paths are absolute; `options` are the settings that were in force.

    `amendments` were asked for in words after a first end, and `contract` stands in place of the
    model's. A run that heals has its `original`; one whose candidates are scripts has `script`, and one whose
    tests need their project's layout has `project`.
    """

    kind: Command = "make"
    original: OriginalFile | None = None
    script: ScriptRequest | None = None
    project: ProjectRequest | None = None
    search_s: float | None = None
    write: bool = False  # what is healed, without a question
    specification: str
    amendments: tuple[str, ...] = ()
    contract: Contract | None = None
    module: str | None = None
    given: tuple[GivenTests, ...] = ()
    output: str | None = None
    tests_output: str | None = None
    record: str | None = None
    keep_best: bool = False
    options: SavedOptions = Field(default_factory=dict)
    greenloop: str = ""

    @property
    def task(self) -> str:
        """The specification, with what was asked for later."""
        later = "".join(f"\n\nAsked for later: {item}" for item in self.amendments)
        return f"{self.specification.rstrip()}{later}\n" if later else self.specification


def select_saved_options(settings: Settings) -> SavedOptions:
    """The settings that a resumed run takes over, unless told otherwise."""
    return {name: getattr(settings, name) for name in _SAVED_SETTINGS}


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
