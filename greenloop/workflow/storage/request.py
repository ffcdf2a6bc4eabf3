"""Requests of runs: what a run is asked to do, with all that is needed to resume it.

Requests are stored in the run directory. They hold no API key.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import Field

from greenloop.records import ChoiceAnswer, Command, Contract, Record
from greenloop.settings import Settings
from greenloop.workflow.storage.request_parts import GivenTests as GivenTests
from greenloop.workflow.storage.request_parts import InputRef as InputRef
from greenloop.workflow.storage.request_parts import OriginalFile as OriginalFile
from greenloop.workflow.storage.request_parts import ProjectRequest as ProjectRequest
from greenloop.workflow.storage.request_parts import ScriptSpec as ScriptSpec
from greenloop.workflow.storage.request_parts import digest as digest

_SAVED_SETTINGS = (
    *("model", "fallback_model", "max_repairs", "mutants", "hardening_rounds", "timeout_s"),
    *("max_tokens", "max_cost", "sandbox", "require", "allowed_packages", "allow_package"),
    *("prompts", "peer"),
)

AMENDMENT = "Asked for later: {}"
SavedOptions = dict[str, str | bool | int | float | None]


class RunRequest(Record):
    """The part that all requests have in common.

    Paths are absolute. `options` are the settings in effect when the run began. `amendments` are
    changes that the user asked for in words after a first result.
    """

    kind: Command
    specification: str = ""
    amendments: tuple[str, ...] = ()
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


class ContractRequest(RunRequest):
    """Work on a contract. `contract` replaces the model's contract.

    `choice_answers` are the user's decisions on what the specification leaves open.
    """

    contract: Contract | None = None
    choice_answers: tuple[ChoiceAnswer, ...] = ()


class MakeRequest(ContractRequest):
    """A module to write from a specification, which was read from the file `source`.

    `force`: files that greenloop did not write may be replaced.
    """

    kind: Literal["make"] = "make"
    source: str | None = None
    force: bool = False


class ChangeRequest(ContractRequest):
    """A wish to fulfil in a project, whose tests are run before unless `measures_baseline` is off.

    `root` is the project's folder, `fence` the globs of files that may change, `may_change` the
    node ids of tests that the wish may contradict; `given` tests go by their paths in the project.
    `apply`: the files are written there; `branch`: they are committed on this new branch, with the
    project's git hooks where `run_hooks`.
    """

    kind: Literal["change"] = "change"
    root: str
    fence: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    measures_baseline: bool = True
    apply: bool = False
    branch: str | None = None
    run_hooks: bool = False

    @property
    def code_file_name(self) -> str:
        return "patch.diff"


class CheckRequest(RunRequest):
    """Existing code to grade against existing tests; with a text, a model reads it.

    `code` is stored only then.
    """

    kind: Literal["check"] = "check"
    code: str = ""


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


AnyRequest = (
    MakeRequest
    | CheckRequest
    | ScriptRequest
    | HealModuleRequest
    | HealScriptRequest
    | ChangeRequest
)
RequestT = TypeVar("RequestT", bound=RunRequest)
ContractRequestT = TypeVar("ContractRequestT", bound=ContractRequest)

_KNOWN_KEYS = frozenset(name for item in get_args(AnyRequest) for name in item.model_fields)


def parse_request(text: str) -> RunRequest:
    """Parse the JSON of a request.

    Version 0.1.0 stored the keys of all kinds in every request; keys of other kinds are ignored.

    Raises:
        ValueError: it is no request of a known kind (pydantic's ValidationError is one too).
    """
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a request is a JSON object")
    request_class = _select_class(data)
    unused = _KNOWN_KEYS - set(request_class.model_fields)
    kept = {name: value for name, value in data.items() if name not in unused}
    return request_class.model_validate_json(json.dumps(kept))


def _select_class(data: dict[str, Any]) -> type[RunRequest]:
    kind = data.get("kind", "make")
    if kind == "heal":
        return HealScriptRequest if data.get("script") else HealModuleRequest
    classes: dict[str, type[RunRequest]] = {
        "make": MakeRequest,
        "check": CheckRequest,
        "script": ScriptRequest,
        "change": ChangeRequest,
    }
    if kind not in classes:
        raise ValueError(f"unknown kind of request: {kind!r}")
    return classes[kind]


def effective_contract(parsed: Contract, request: MakeRequest) -> Contract:
    """Return the contract of a run: the model's, unless the user replaced it."""
    if request.contract is None:
        return parsed
    kept = {"specification": request.task, "examples": parsed.examples}
    return request.contract.model_copy(update=kept)


def select_saved_options(settings: Settings) -> SavedOptions:
    """Return the settings that a resumed run takes over unless flags override them."""
    return {name: getattr(settings, name) for name in _SAVED_SETTINGS}


def with_absolute_replay(model: str) -> str:
    """Make the path of a replay file independent of the working folder."""
    is_file = model.startswith("replay:")
    return f"replay:{Path(model[7:]).absolute()}" if is_file else model
