"""Requests of runs: their tasks, with everything that is needed to resume them.

Requests are stored in the run directory, without API keys. The package of each kind of run defines
its own request.
"""

import hashlib
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import Field

from greenloop.files import check_python, read_text
from greenloop.records import ChoiceAnswer, Command, Contract, Record, Requirement
from greenloop.settings import Settings, list_settings
from greenloop.specification.passages import split_passages
from greenloop.testsuite import TestFile

AMENDMENT = "Asked for later: {}"
SavedOptions = dict[str, str | bool | int | float | None]
NEUTRAL_OPTIONS = ("max_tokens", "max_cost", "sandbox", "require")  # for answers and verdict
PRECEDENCE_CLAUSE = "Where another requirement contradicts this one, this one holds."


class GivenTests(Record):
    """A locked test file of the user, with the SHA-256 digest of its text."""

    name: str
    code: str
    sha256: str

    @classmethod
    def from_code(cls, name: str, code: str) -> "GivenTests":
        return cls(name=name, code=code, sha256=digest(code))

    @classmethod
    def read(cls, path: Path, label: str, name: str = "") -> "GivenTests":
        """Read a file, which `label` names in messages. Raises InputError."""
        code = read_text(path, label)
        check_python(code, f"{label} is")
        return cls.from_code(name or path.name, code)

    def as_test_file(self) -> TestFile:
        return TestFile(self.name, self.code, locked=True)


class RunRequest(Record):
    """The part that all requests have in common; paths are absolute."""

    needs_model: ClassVar[bool] = True

    kind: Command
    specification: str = ""
    amendments: tuple[str, ...] = ()  # changes that were asked for after a first result
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
        """Name of the file with the code, '' if the contract's module decides it."""
        return ""

    @property
    def original_text(self) -> str:
        """Text of the file to heal, '' without one."""
        return ""

    @property
    def project_root(self) -> str:
        """The folder of the project whose environment runs the tests, '' without one."""
        return ""

    def list_recorded_texts(self) -> tuple[str, ...]:
        """Return the texts that decide the answers of a model. Raises InputError."""
        return (self.specification,)


class ContractRequest(RunRequest):
    """A request whose run works from a contract."""

    contract: Contract | None = None  # replaces the model's
    choice_answers: tuple[ChoiceAnswer, ...] = ()  # the user's answers to open choices


RequestT = TypeVar("RequestT", bound=RunRequest)
ContractRequestT = TypeVar("ContractRequestT", bound=ContractRequest)


def select_saved_options(settings: Settings) -> SavedOptions:
    """Return the settings that a resumed run takes over unless flags override them."""
    return {item.name: getattr(settings, item.name) for item in list_settings() if item.is_saved}


def select_deciding_options(settings: Settings) -> SavedOptions:
    """Return the saved settings that decide the answers and the verdict of a run."""
    saved = select_saved_options(settings)
    return {name: value for name, value in saved.items() if name not in NEUTRAL_OPTIONS}


def with_absolute_replay(model: str) -> str:
    """Return a model's name, with an absolute path if it names a replay file."""
    is_file = model.startswith("replay:")
    return f"replay:{Path(model[7:]).absolute()}" if is_file else model


def digest(text: str) -> str:
    """Return the SHA-256 digest of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_recorded_texts(request: RunRequest) -> str:
    """Return the SHA-256 digest, as recordings have it, of the texts that decide the answers.

    Line ends and outer white space make no difference. Raises InputError.
    """
    texts = request.list_recorded_texts()
    lines = (item.replace("\r\n", "\n").replace("\r", "\n") for item in texts)
    return digest("\0".join(item.strip() for item in lines))


def with_choice_answer(request: ContractRequestT, answer: ChoiceAnswer) -> ContractRequestT:
    """Return the request with the user's answer to a choice, in place of an earlier one."""
    others = (
        item for item in request.choice_answers if item.question_sha256 != answer.question_sha256
    )
    return request.model_copy(update={"choice_answers": (*others, answer)})


def with_change_request(
    request: RequestT, change: str, contract: Contract | None = None
) -> RequestT:
    """Return the request with one more change in words.

    With a contract, the change becomes its last requirement.
    """
    update: dict[str, object] = {"amendments": (*request.amendments, change)}
    if contract is not None:
        number = max(int(item.id[1:]) for item in contract.requirements) + 1
        added = Requirement(
            id=f"R{number}",
            text=f"{change} {PRECEDENCE_CLAUSE}",
            quotes=split_passages(AMENDMENT.format(change)),
        )
        requirements = (*contract.requirements, added)
        update["contract"] = contract.model_copy(update={"requirements": requirements})
    return request.model_copy(update=update)
