"""Answers of a model as typed records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from greenloop.records.base import Record

MIN_HELD_OUT = 4
Severity = Literal["error", "warning", "style"]


def _fence(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```"


class GeneratedCode(Record):
    """A whole module and the prose that came with it."""

    code: str
    explanation: str = ""

    def __str__(self) -> str:
        return _fence(self.code)


class HeldOutExample(Record):
    """A call with its expected result, which the code under test never sees.

    `call` is one Python expression over the module's names. Exactly one of `returns` (a Python
    literal) and `raises` (an exception's name) is given.
    """

    requirement: str = ""
    call: str
    returns: str | None = None
    raises: str | None = None


def has_enough_examples(examples: Sequence[HeldOutExample]) -> bool:
    """Return whether there are at least four held-out examples, half of them with values."""
    with_values = sum(item.returns is not None for item in examples)
    return len(examples) >= MIN_HELD_OUT and 2 * with_values >= len(examples)


class GeneratedTests(Record):
    """A pytest file and, optionally, held-out examples."""

    code: str
    held_out: tuple[HeldOutExample, ...] = ()

    def __str__(self) -> str:
        return _fence(self.code)


class GeneratedTestFiles(Record):
    """Test files by path, whole, and held-out examples."""

    files: dict[str, str]
    held_out: tuple[HeldOutExample, ...] = ()


class AddedTests(Record):
    """Tests to add to a suite; or why none are needed, and then no code."""

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
    right: Literal["first", "second", "neither", "wording", "text does not say"]
    because: str = ""
    expected: str | None = None


class Finding(Record):
    """One finding of a review; `line` is None where none fits."""

    line: int | None
    severity: Severity
    message: str
    resolved: bool = False

    def __str__(self) -> str:
        return f"- L{self.line if self.line is not None else '?'} {self.severity}: {self.message}"


class Review(Record):
    """The findings of one review; none is LGTM.

    `confirmed` are the numbers of the doubtful background that, as the reviewer says, asks for nothing.
    """

    findings: tuple[Finding, ...] = ()
    confirmed: tuple[int, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(item for item in self.findings if item.severity == "error")

    @property
    def of_correctness(self) -> tuple[Finding, ...]:
        """The unresolved errors and warnings: what may make a result wrong."""
        return tuple(i for i in self.findings if i.severity != "style" and not i.resolved)

    def unmet(self) -> Iterator[str]:
        """Yield the findings that keep a green from being `verified`, each with its remedy."""
        for item in self.of_correctness:
            where = f"line {item.line}: " if item.line is not None else ""
            remedy = "state in the text what should hold, or fix the code"
            yield f"the review's {item.severity} stands: {where}{item.message}: {remedy}"

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.findings) or "LGTM"


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
    """Whether the test or the code contradicts the contract."""

    wrong: Literal["test", "code", "text"]
    because: str = Field(default="")

    def __str__(self) -> str:
        return f"The {self.wrong} is wrong: {self.because}"
