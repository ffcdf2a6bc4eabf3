"""Requests to repair an existing file."""

from pathlib import Path
from typing import ClassVar, Literal

from greenloop.records import Record
from greenloop.workflow.script.request import ScriptSpec
from greenloop.workflow.storage.request import RunRequest


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


class HealRequest(RunRequest):
    """An existing file to repair. `write`: overwrite it without asking the user."""

    needs_model: ClassVar[bool] = False  # a search may be enough

    kind: Literal["heal"] = "heal"
    original: OriginalFile
    write: bool = False

    @property
    def code_file_name(self) -> str:
        return self.original.name

    @property
    def original_text(self) -> str:
        return self.original.text

    def list_recorded_texts(self) -> tuple[str, ...]:
        return (self.original_text, *(item.code for item in self.given))


class HealModuleRequest(HealRequest):
    """A module to repair until the user's tests pass; `search_s` limits the repair search."""

    project: ProjectRequest | None = None
    search_s: float | None = None

    @property
    def project_root(self) -> str:
        return self.project.root if self.project else ""


class HealScriptRequest(HealRequest):
    """A script to repair until it runs and its checks hold."""

    script: ScriptSpec
