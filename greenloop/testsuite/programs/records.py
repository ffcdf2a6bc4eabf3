"""Records of a test file's programs, and of its tests' expectations of the observations."""

import ast
from dataclasses import dataclass
from typing import Any

from greenloop.records import NotObservable
from greenloop.syntax.nodes import Function


class RefusedError(Exception):
    """A test has a form that cannot be written as a program."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, getattr(node, "lineno", 0)


@dataclass(frozen=True)
class Expectation:
    """Expectation of a test for the observation with the number `number`.

    `kind` is an operator (`==`, `<`, `not <`, `in`; `has` and `has not` are `in` and `not in` with the sides
    exchanged), `truth`, `near`, `not near`, `class`, `not class`, `array`, `unordered`, `match` (a
    pattern in the value), or, for an exception, `raises`, `text match` or `text has`. `expected` is
    a value, or the name of a built-in class; with `other`, that observation is expected instead.
    `tolerance` is relative and absolute.
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
class ProgramFile:
    """The programs of a test file; `preamble` are its imports and the definitions that they use."""

    preamble: str = ""
    programs: tuple[Program, ...] = ()
    not_observed: tuple[NotObservable, ...] = ()

    @property
    def text(self) -> str:
        """The source that the runner executes."""
        functions = [ast.unparse(item.function) for item in self.programs]
        entries = [f"({i.function.name}, {i.fixtures!r}, [()])" for i in self.programs]
        return "\n".join([self.preamble, *functions, f"programs = [{', '.join(entries)}]\n"])
