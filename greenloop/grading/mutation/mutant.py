"""Mutants and the edits that operators propose."""

from dataclasses import dataclass, field

from greenloop.sandbox.work.trials.runs import ModuleEdit
from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.operators.protocol import Operator
from greenloop.syntax.source import Source, TextEdit, format_unified_diff


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
    """One edit of a module, ready to be tried."""

    id: str
    operator: str
    line: int  # of the edit, from 1
    column: int  # in characters, from 1
    edit: ModuleEdit
    function: str  # the dotted name of the function around it, '' at module level
    change: tuple[str, str]  # the expression or statement that it changes, before and after
    source: Source = field(repr=False, compare=False)
    equivalence_reason: str = ""  # why it probably changes nothing that a test should see

    @property
    def original(self) -> str:
        """The text that the edit replaces."""
        return self.source.text[self.edit.start : self.edit.end]

    @property
    def before(self) -> str:
        """The whole lines that the edit touches."""
        return self.source.text[slice(*self._lines_span())]

    @property
    def after(self) -> str:
        """The same lines after the edit."""
        start, end = self._lines_span()
        text, edit = self.source.text, self.edit
        return text[start : edit.start] + edit.text + text[edit.end : end]

    def _lines_span(self) -> tuple[int, int]:
        last = self.source.get_line_number(max(self.edit.start, self.edit.end - 1))
        return self.source.line_start(self.line), self.source.line_end(last)

    def to_unified_diff(self, name: str, code: str) -> str:
        """Return the mutant as a unified diff with the lines around it; `name` is the file's."""
        start = self.edit.start - self.column + 1
        return format_unified_diff(name, code, start, self.before, self.after)
