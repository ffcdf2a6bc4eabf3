"""Evaluation task: the specification for the model and the hidden tests."""

import ast

from pydantic import BaseModel, ConfigDict, Field

from greenloop.batch.entries import Entry
from greenloop.errors import InputError
from greenloop.records import Record
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.testsuite import TestFile
from greenloop.workflow.storage.request import digest

DEFAULT_MODULE = "solution"  # for formats without a module name


class HiddenFile(Record):
    """File of hidden tests; its name is relative to the module's folder."""

    name: str
    code: str

    def to_test_file(self) -> TestFile:
        return TestFile(self.name, self.code, locked=True)


class EvalTask(Record):
    """A task, of which the model gets `spec` alone. `tests` and the reference `solution` ('' where
    the data has none) are hidden; `--check-tasks` runs both. `where` is for messages.
    """

    id: str = Field(min_length=1, max_length=200)
    spec: str = Field(min_length=1)
    module: str
    tests: tuple[HiddenFile, ...]
    solution: str = ""
    where: str = ""

    @classmethod
    def with_test_file(cls, code: str, module: str = DEFAULT_MODULE, **fields: str) -> "EvalTask":
        """Return a task with one file of hidden tests."""
        hidden = HiddenFile(name=f"test_{module}.py", code=code)
        return cls.model_validate({**fields, "module": module, "tests": (hidden,)})

    def to_entry(self) -> Entry:
        """Return the task as an entry of a batch."""
        return Entry(id=self.id, text=self.spec, source=self.where, module=self.module)

    @property
    def tests_sha256(self) -> str:
        return digest("\0".join(f"{item.name}\0{item.code}" for item in self.tests))


def parse_source(source: str, label: str) -> ast.Module:
    """Return the syntax tree of a part of a task. Raises InputError if it is not Python."""
    try:
        return ast.parse(source)
    except PARSE_ERRORS as error:
        raise InputError(f"{label} is not Python: {error}") from None


class ExternalRecord(BaseModel):
    """Record of a third-party format; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
