"""Mutants and the edits that operators propose."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.sandbox.work.mutant_runs import ModuleEdit
from greenloop.syntax.edit import TextEdit, format_unified_diff
from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.operators import Operator


@dataclass(frozen=True)
class ProposedEdit:
    """An edit that an operator proposes for a node."""

    operator: Operator[TextEdit]
    edit: TextEdit
    context: NodeContext

    @property
    def original(self) -> str:
        """The text that the edit replaces."""
        return self.context.source.text[self.edit.start : self.edit.end]


@dataclass(frozen=True)
class Mutant:
    """One edit of a module, ready to be tried.

    `line` (from 1) and `column` (characters, from 1) are those of the edit; `before` and `after` are
    the whole lines that it touches. `function` is the dotted name of the function around it, '' at
    module level. `question` is what a test would have to ask to notice the mutant.
    `equivalence_reason` says why it probably changes nothing that a test should see, '' otherwise.
    """

    id: str
    operator: str
    line: int
    column: int
    edit: ModuleEdit
    original: str
    before: str
    after: str
    function: str
    question: str
    equivalence_reason: str = ""

    def to_unified_diff(self, name: str, code: str) -> str:
        """Return the mutant as a unified diff with the lines around it; `name` is the file's."""
        start = self.edit.start - self.column + 1
        return format_unified_diff(name, code, start, self.before, self.after)
