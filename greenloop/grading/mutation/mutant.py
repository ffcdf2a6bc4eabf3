"""What a mutant is: one change of a module's text."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.syntax.source import format_unified_diff


@dataclass(frozen=True)
class ProposedChange:
    """What an operator proposes: the characters `start` to `end` of the source become `text`."""

    operator: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """One change, ready to be tried.

    `line` (from 1) and `column` (characters, from 1) are those of the change, `start` and `end`
    offsets in characters; `before` and `after` are the whole lines that it touches.
    `function` is the dotted name of the function around it, '' at module level. `question` is what
    a test would have to ask to notice. `equivalent_suspect` says why it probably changes nothing
    that a test should see; '' for the others. `unit` and `statement` are a splice's `unit` and
    `lines`.
    """

    id: str
    operator: str
    line: int
    column: int
    start: int
    end: int
    original: str
    replacement: str
    before: str
    after: str
    function: str
    question: str
    unit: tuple[int, int, int, str]
    statement: tuple[int, int]
    equivalence_reason: str = ""

    def to_unified_diff(self, name: str, code: str) -> str:
        """The change as a unified diff with the lines around it; `name` is the file's."""
        return format_unified_diff(
            name, code, self.start - self.column + 1, self.before, self.after
        )

    def apply_to(self, code: str) -> str:
        """The whole module with this change."""
        return code[: self.start] + self.replacement + code[self.end :]
