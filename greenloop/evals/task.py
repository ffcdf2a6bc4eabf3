"""One task: what the model is told, and what it never sees."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from greenloop.records import Record
from greenloop.testsuite import TestFile
from greenloop.workflow.storage.request import digest

DEFAULT_MODULE = "solution"  # what a module is called whose format has no name for it


class HiddenFile(Record):
    """A file of the hidden tests, by its name beside the module."""

    name: str
    code: str

    def to_test_file(self) -> TestFile:
        return TestFile(self.name, self.code, locked=True)


class EvalTask(Record):
    """`spec` is all that a model is told. `tests` are hidden; so is `solution`, which they are
    tried on by `--check-tasks` ('' where the data has none). `where` it stands, for people.
    """

    id: str = Field(min_length=1, max_length=200)
    spec: str = Field(min_length=1)
    module: str
    tests: tuple[HiddenFile, ...]
    solution: str = ""
    where: str = ""

    @property
    def tests_sha256(self) -> str:
        return digest("\0".join(f"{item.name}\0{item.code}" for item in self.tests))


class ExternalRecord(BaseModel):
    """A record of somebody else's format: keys that are not read are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")
