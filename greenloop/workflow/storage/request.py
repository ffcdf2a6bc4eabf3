"""Requests of runs: what a run is asked to do, with all that is needed to resume it.

Requests are stored in the run directory. They hold no API key.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, TypeVar, get_args

from greenloop.records import ChoiceAnswer, Command, Contract, OutputCheck, Record
from greenloop.workflow.storage.run_request import AMENDMENT as AMENDMENT
from greenloop.workflow.storage.run_request import CheckRequest as CheckRequest
from greenloop.workflow.storage.run_request import GivenTests as GivenTests
from greenloop.workflow.storage.run_request import RequestT as RequestT
from greenloop.workflow.storage.run_request import RunRequest as RunRequest
from greenloop.workflow.storage.run_request import SavedOptions as SavedOptions
from greenloop.workflow.storage.run_request import digest as digest
from greenloop.workflow.storage.run_request import select_saved_options as select_saved_options
from greenloop.workflow.storage.run_request import with_absolute_replay as with_absolute_replay


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


class ContractRequest(RunRequest):
    """Work on a contract."""

    contract: Contract | None = None  # it replaces the model's
    choice_answers: tuple[ChoiceAnswer, ...] = ()  # what the user decided where the text is open


class MakeRequest(ContractRequest):
    """A module to write from a specification."""

    kind: Literal["make"] = "make"
    source: str | None = None  # the file that the specification was read from
    force: bool = False  # files that greenloop did not write may be replaced


class ChangeRequest(ContractRequest):
    """A wish to fulfil in a project, to which the paths of `given` tests are relative."""

    kind: Literal["change"] = "change"
    root: str  # the project's folder
    fence: tuple[str, ...] = ()  # globs of files that may change
    may_change: tuple[str, ...] = ()  # node ids of tests that the wish may contradict
    measures_baseline: bool = True  # the project's tests are run before
    apply: bool = False  # the files are written there
    branch: str | None = None  # they are committed on this new branch
    run_hooks: bool = False  # with the project's git hooks

    @property
    def code_file_name(self) -> str:
        return "patch.diff"


class ScriptRequest(RunRequest):
    """A script to write for a task."""

    kind: Literal["script"] = "script"
    script: ScriptSpec

    @property
    def code_file_name(self) -> str:
        return self.script.name


class HealRequest(RunRequest):
    """An existing file to repair. `write`: overwrite it without asking the user."""

    kind: Literal["heal"] = "heal"
    original: OriginalFile
    write: bool = False

    @property
    def code_file_name(self) -> str:
        return self.original.name

    @property
    def original_text(self) -> str:
        return self.original.text


class HealModuleRequest(HealRequest):
    """A module to repair until the user's tests pass; `search_s` limits the repair search."""

    project: ProjectRequest | None = None
    search_s: float | None = None


class HealScriptRequest(HealRequest):
    """A script to repair until it runs and its checks hold."""

    script: ScriptSpec


_CLASSES: dict[str, type[RunRequest]] = {
    "make": MakeRequest,
    "check": CheckRequest,
    "script": ScriptRequest,
    "change": ChangeRequest,
    "heal": HealModuleRequest,
    "heal script": HealScriptRequest,
}
ContractRequestT = TypeVar("ContractRequestT", bound=ContractRequest)

_KNOWN_KEYS = frozenset(name for item in _CLASSES.values() for name in item.model_fields)


def parse_request(text: str) -> RunRequest:
    """Parse the JSON of a request.

    Version 0.1.0 stored the keys of all kinds in every request; keys of other kinds are ignored.

    Raises:
        ValueError: it is no request of a known kind (pydantic's ValidationError is one too).
    """
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a request is a JSON object")
    kind = data.get("kind", "make")
    if kind not in get_args(Command):
        raise ValueError(f"unknown kind of request: {kind!r}")
    request_class = _CLASSES["heal script" if kind == "heal" and data.get("script") else kind]
    unused = _KNOWN_KEYS - set(request_class.model_fields)
    kept = {name: value for name, value in data.items() if name not in unused}
    return request_class.model_validate_json(json.dumps(kept))


def effective_contract(parsed: Contract, request: MakeRequest) -> Contract:
    """Return the contract of a run: the model's, unless the user replaced it."""
    if request.contract is None:
        return parsed
    kept = {"specification": request.task, "examples": parsed.examples}
    return request.contract.model_copy(update=kept)
