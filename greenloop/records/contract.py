"""The contract: a typed interface, numbered requirements, and what the text leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from greenloop.records.base import Record


class Requirement(Record):
    """One testable statement. `id` is `R1`, `R2`, …; `quotes` are the passages that ask for it."""

    id: str = Field(pattern=r"^R[1-9][0-9]*$")
    text: str = Field(min_length=1)
    quotes: tuple[str, ...] = ()


class Background(Record):
    """A passage of the specification that asks for nothing, and why."""

    quote: str
    reason: str = ""


class Choice(Record):
    """A question that the specification leaves open and whose answer a caller sees.

    `answers` are the possible ones, as example calls with their results; `chosen` is the one that
    the code follows. `source` says who found the question: the contract's writer, or the judge of
    a difference between two implementations. `answered` is None as long as it is open.
    """

    id: str = Field(min_length=1)
    question: str
    answers: tuple[str, ...] = ()
    chosen: str = ""
    quote: str = ""
    source: Literal["contract", "judge"] = "contract"
    answered: Literal["user", "accepted"] | None = None


class GivenExample(Record):
    """An example of the specification's text, in doctest form."""

    doctest: str


class Contract(Record):
    """The agreement that code and tests are written from, independently of each other.

    `interface` is Python stub source: signatures, types, docstrings, bodies `...`.
    `specification` is the text that it was made from; `examples` are those of that text.
    `background` are the passages that ask for nothing, `unquoted` those that neither a requirement
    nor the background takes up, `not_covered` what the text asks for and one module cannot give.
    `unclear_examples` are passages that look like an example and were not understood.
    """

    module: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    summary: str
    interface: str
    requirements: tuple[Requirement, ...]
    background: tuple[Background, ...] = ()
    unquoted: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    unclear_examples: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    packages: tuple[str, ...] = ()
    specification: str = Field(default="", exclude=True)
    examples: tuple[GivenExample, ...] = Field(default=(), exclude=True)

    @property
    def open_choices(self) -> tuple[Choice, ...]:
        """The choices that nobody has answered or accepted."""
        return tuple(item for item in self.choices if item.answered is None)

    def unmet(self) -> Iterator[str]:
        """Yield why a green is not `verified` against the text, each with its remedy."""
        if self.unquoted:
            quoted = "; ".join(f'"{item}"' for item in self.unquoted)
            yield f"no requirement takes up this of the text: {quoted}: say it more plainly"
        for item in self.not_covered:
            yield f"the text asks for more than one module: {item}"
        for choice in self.open_choices:
            yield f"the text leaves open: {choice.question}: answer it with --answers FILE"

    def __str__(self) -> str:
        """Return the contract as JSON, as a model passes it to the next tool."""
        return self.model_dump_json(indent=1)
