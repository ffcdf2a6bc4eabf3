"""Types of the suite: subjects with tests, forgeries, and unusual but correct modules."""

from dataclasses import dataclass
from typing import Literal

# framework: changes pytest, unittest or built-ins, ends the process, forges reports
# equality: values that equal, contain or outrank whatever they are compared with
# checking: values that compute their equality from the other side of the comparison
# exceptions: one exception that is of every type and has every message
# helpers: changes other modules that the tests use
# detection: right only where tests run, or wrong only where it is examined
# reading: takes the expected values from the tests
# table: right exactly on what the tests ask
Attack = Literal[
    "framework", "equality", "checking", "exceptions", "helpers", "detection", "reading", "table"
]
Degree = Literal["first", "second"]


@dataclass(frozen=True)
class Subject:
    """Thorough tests of a module `m`, and a correct module.

    `hidden` are calls whose answers show whether a module does its job.
    """

    tests: str
    right: str
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forgery:
    """A module that its subject's tests should reject and that tries to pass.

    `early`: a conftest imports it before pytest reads the tests.
    """

    attack: Attack
    subject: Subject
    code: str
    early: bool = False

    def tests(self, name: str) -> str:
        """Return tests with a text of their own, as pytest caches files that it has rewritten."""
        return f"{self.subject.tests}\n# {name}\n"

    @property
    def degree(self) -> Degree:
        """Return "first" for attacks on the verdict itself; these must come out as `failed`."""
        return "first" if self.attack in ("framework", "equality") else "second"

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
