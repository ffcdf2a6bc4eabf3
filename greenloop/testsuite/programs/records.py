"""Programs of a test file, and what its tests expect of what they observe."""

import ast
from dataclasses import dataclass
from typing import Any

from greenloop.syntax.nodes import Function


class RefusedError(Exception):
    """A form of a test that is not observed."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, getattr(node, "lineno", 0)


@dataclass(frozen=True)
class Expectation:
    """What a test expects of the observation of a number.

    `kind` is an operator (`==`, `<`, `in`; `has` and `has not` are those of `in` with the sides
    exchanged), `truth`, `near`, `class`, `raises`, `match` (a pattern in the text of an exception)
    or `unordered`. `expected` is encoded as observations are; with `other` it is what that
    observation gives. `tolerance` is relative and absolute.
    """

    line: int
    number: int
    kind: str
    expected: Any = None
    other: int | None = None
    tolerance: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Program:
    """One row of a test as a function that observes; its parameters are fixtures of the runner."""

    test: str
    line: int
    function: Function
    fixtures: tuple[str, ...] = ()
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True)
class NotObserved:
    """A test that is no program: the line that decides, and the reason."""

    test: str
    line: int
    reason: str


@dataclass(frozen=True)
class ProgramFile:
    """The programs of a test file; `preamble` are its imports and the definitions that they use."""

    preamble: str = ""
    programs: tuple[Program, ...] = ()
    not_observed: tuple[NotObserved, ...] = ()

    @property
    def text(self) -> str:
        """The source that the runner executes."""
        functions = [ast.unparse(item.function) for item in self.programs]
        entries = [f"({i.function.name}, {i.fixtures!r}, [()])" for i in self.programs]
        return "\n".join([self.preamble, *functions, f"programs = [{', '.join(entries)}]\n"])
