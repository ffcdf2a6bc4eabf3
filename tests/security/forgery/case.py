"""What the suite is made of: subjects with their tests, wrong modules, and odd but right ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# "first": attacks the verdict's channel, pytest, the process, or equals whatever it is asked;
# "second": knows what the tests ask or expect, or behaves where they are as it does nowhere else.
Degree = Literal["first", "second"]


@dataclass(frozen=True)
class Subject:
    """Honest, thorough tests of a module `m`, and a module that is right by them."""

    tests: str
    right: str


@dataclass(frozen=True)
class Forgery:
    """A module that is wrong by its subject's tests and tries to look right.

    `early`: a conftest imports it before pytest reads the tests.
    """

    degree: Degree
    subject: Subject
    code: str
    early: bool = False

    def tests(self, name: str) -> str:
        """A text of its own: what pytest rewrote once it does not rewrite again, whoever forges how."""
        return f"{self.subject.tests}\n# {name}\n"

    @property
    def conftest(self) -> str:
        return "import m\n" if self.early else ""


@dataclass(frozen=True)
class Odd:
    """A right module that looks as forgeries do, and its tests.

    `weak`: its tests are such that controls may stay green (matchers, bounds). `looking`: it looks
    at who calls it, so that it is right only beside its tests, and that may be said of it.
    """

    code: str
    tests: str
    weak: bool = False
    looking: bool = False


Forgeries = Mapping[str, Forgery]
Odds = Mapping[str, Odd]
