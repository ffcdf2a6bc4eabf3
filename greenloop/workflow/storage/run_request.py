"""The part that the requests of all runs have in common, and the request of a check."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from greenloop.files import check_python, read_text
from greenloop.records import Command, Record
from greenloop.settings import Settings, list_settings
from greenloop.testsuite import TestFile

AMENDMENT = "Asked for later: {}"
SavedOptions = dict[str, str | bool | int | float | None]


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


class RunRequest(Record):
    """The part that all requests have in common; paths are absolute."""

    kind: Command
    specification: str = ""
    amendments: tuple[str, ...] = ()  # asked for in words after a first result
    module: str | None = None
    given: tuple[GivenTests, ...] = ()
    output: str | None = None
    tests_output: str | None = None
    record: str | None = None
    keep_best: bool = False
    options: SavedOptions = Field(default_factory=dict)  # in effect when the run began
    greenloop: str = ""

    @property
    def task(self) -> str:
        """The specification, followed by the amendments."""
        later = "".join(f"\n\n{AMENDMENT.format(item)}" for item in self.amendments)
        return f"{self.specification.rstrip()}{later}\n" if later else self.specification

    @property
    def code_file_name(self) -> str:
        """Name of the file with the code, '' where the contract's module decides it."""
        return ""

    @property
    def original_text(self) -> str:
        """Text of the file to heal, '' where there is none."""
        return ""


class CheckRequest(RunRequest):
    """Existing code to grade against existing tests; with a text, a model reads it."""

    kind: Literal["check"] = "check"
    code: str = ""  # stored only with a text


RequestT = TypeVar("RequestT", bound=RunRequest)


def select_saved_options(settings: Settings) -> SavedOptions:
    """Return the settings that a resumed run takes over unless flags override them."""
    return {item.name: getattr(settings, item.name) for item in list_settings() if item.is_saved}


def with_absolute_replay(model: str) -> str:
    """Make the path of a replay file independent of the working folder."""
    is_file = model.startswith("replay:")
    return f"replay:{Path(model[7:]).absolute()}" if is_file else model


def digest(text: str) -> str:
    """Return the SHA-256 digest of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
