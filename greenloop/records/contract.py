"""The contract: a typed interface and numbered requirements."""

from __future__ import annotations

from pydantic import Field

from greenloop.records.base import Record


class Requirement(Record):
    """One testable statement. `id` is `R1`, `R2`, …"""

    id: str = Field(pattern=r"^R[1-9][0-9]*$")
    text: str = Field(min_length=1)


class GivenExample(Record):
    """An example of the specification's text, word for word, in doctest form."""

    doctest: str


class Contract(Record):
    """The agreement that code and tests are written from, independently of each other.

    `interface` is Python stub source: signatures, types, docstrings, bodies `...`.
    `specification` is the text that it was made from; `examples` are those of that text.
    """

    module: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    summary: str
    interface: str
    requirements: tuple[Requirement, ...]
    assumptions: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    specification: str = Field(default="", exclude=True)
    examples: tuple[GivenExample, ...] = Field(default=(), exclude=True)

    def __str__(self) -> str:
        """Return the contract as JSON, as a model passes it to the next tool."""
        return self.model_dump_json(indent=1)
