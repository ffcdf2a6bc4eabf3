"""Parsed answers of a model as typed records."""

from typing import Literal

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.contract import HeldOutExample


def _fence(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```"


class GeneratedCode(Record):
    """A whole module and the model's explanation of it."""

    code: str
    explanation: str = ""

    def __str__(self) -> str:
        return _fence(self.code)


class GeneratedTests(Record):
    """A pytest file and, optionally, held-out examples."""

    code: str
    held_out: tuple[HeldOutExample, ...] = ()

    def __str__(self) -> str:
        return _fence(self.code)


class GeneratedTestFiles(Record):
    """Complete test files by path, and held-out examples."""

    files: dict[str, str]
    held_out: tuple[HeldOutExample, ...] = ()


class AddedTests(Record):
    """Tests to add to a suite; without `code`, `reason` says why none are needed."""

    code: str = ""
    reason: str = ""


class GeneratedPeer(Record):
    """A second implementation, and the source of `inputs(rng)` and `allowed(*arguments)`."""

    code: str
    inputs: str = ""

    def __str__(self) -> str:
        return f"{_fence(self.code)}\n\n{_fence(self.inputs)}"


class DifferenceRuling(Record):
    """The judge's answer on one difference; `expected` is a Python literal as text, or None."""

    id: int
    right: Literal["first", "second", "neither", "wording", "outside", "text does not say"]
    because: str = ""
    expected: str | None = None


class Dispute(Record):
    """The claim that a test contradicts the specification."""

    test: str
    why: str


class Repair(Record):
    """A repaired module (None where the answer only disputes tests) and the disputes."""

    code: str | None
    disputes: tuple[Dispute, ...] = ()
    explanation: str = ""

    def __str__(self) -> str:
        lines = [f"DISPUTE {item.test}: {item.why}" for item in self.disputes]
        if self.code is not None:
            lines.append(_fence(self.code))
        return "\n".join(lines)


class Judgement(Record):
    """A judge's decision whether the test, the code or the text is wrong."""

    wrong: Literal["test", "code", "text"]
    because: str = Field(default="")

    def __str__(self) -> str:
        return f"The {self.wrong} is wrong: {self.because}"
