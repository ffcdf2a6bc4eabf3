"""Types of the suite: subjects with tests, forgeries, and unusual but correct modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# "first": attacks the channel of the verdict, pytest or the process, or equals everything;
# "second": knows inputs or expected values of the tests, or behaves differently in their process.
Degree = Literal["first", "second"]


@dataclass(frozen=True)
class Subject:
    """Thorough tests of a module `m`, and a correct module."""

    tests: str
    right: str


@dataclass(frozen=True)
class Forgery:
    """A module that its subject's tests should reject and that tries to pass.

    `early`: a conftest imports it before pytest reads the tests.
    """

    degree: Degree
    subject: Subject
    code: str
    early: bool = False

    def tests(self, name: str) -> str:
        """Return tests with a text of their own, as pytest caches files that it has rewritten."""
        return f"{self.subject.tests}\n# {name}\n"

    @property
    def conftest(self) -> str:
        return "import m\n" if self.early else ""


@dataclass(frozen=True)
class Odd:
    """A correct module that resembles forgeries, and its tests.

    `weak`: assertion mutants of its tests may survive (matchers, bounds). `looking`: it inspects its
    callers, so its answers may honestly differ in another process.
    """

    code: str
    tests: str
    weak: bool = False
    looking: bool = False


Forgeries = Mapping[str, Forgery]
Odds = Mapping[str, Odd]
