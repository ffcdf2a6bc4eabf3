"""The request of a script to write."""

from typing import Literal

from greenloop.records import OutputCheck, Record
from greenloop.workflow.storage.request import RunRequest


class InputRef(Record):
    """A file that a script reads: `path` in the sandbox, `source` on the host."""

    path: str
    source: str
    sha256: str


class ScriptSpec(Record):
    """The file name, inputs and output checks of a script."""

    name: str  # of its file
    arguments: tuple[str, ...] = ()
    stdin: InputRef | None = None
    inputs: tuple[InputRef, ...] = ()
    checks: tuple[OutputCheck, ...] = ()
    artifacts: str | None = None


class ScriptRequest(RunRequest):
    """A script to write for a task."""

    kind: Literal["script"] = "script"
    script: ScriptSpec

    @property
    def code_file_name(self) -> str:
        return self.script.name

    def list_recorded_texts(self) -> tuple[str, ...]:
        read = (*self.script.inputs, *([self.script.stdin] if self.script.stdin else []))
        return (self.specification, *sorted(item.sha256 for item in read))
