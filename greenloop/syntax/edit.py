"""What a search tries: one change of a module's text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextEdit:
    """The characters `start` to `end` become `text`.

    `cost` says how far it is from what a person would mend first (1: as near as can be). `words`
    say what it does; `line` (from 1) is where the fault would be.
    """

    start: int
    end: int
    text: str
    kind: str
    description: str
    cost: float
    line: int

    def apply_to(self, code: str) -> str:
        return code[: self.start] + self.text + code[self.end :]
