"""The result of planning: two texts, and what cannot be observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from greenloop.testsuite.scenarios.judge_text import JudgeText


class Scenario(NamedTuple):
    """A test function that is observed.

    `names` are the names of the module that it uses, `attributes` those of any object.
    """

    test: str
    line: int
    names: frozenset[str]
    attributes: frozenset[str] = frozenset()


class NotObservable(NamedTuple):
    """A test function that is not observed, the line that prevents it, and why."""

    test: str
    line: int
    reason: str


@dataclass(frozen=True)
class ScenarioFile:
    """A test file in two parts, in which scenarios have the same numbers: their positions."""

    scenario: str  # for the process of the code: inputs, calls and what is observed
    judge: str  # for the process of the tests: expected values and comparisons
    scenarios: tuple[Scenario, ...]
    not_observable: tuple[NotObservable, ...]
    names: Mapping[str, str] = field(default_factory=dict)  # neutral names of helpers by their own
    judge_text: JudgeText | None = field(default=None, repr=False, compare=False)  # of `judge`


class WholeFile(NamedTuple):
    """Tests as they are, with what they expect, and their names in the order of the text."""

    text: str
    tests: tuple[str, ...]


class RefusedError(Exception):
    """A test uses something that cannot be observed; `line` is 0 where it is the whole test."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line
