"""Context of a syntax node, with everything that an operator needs to propose edits of it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from greenloop.repair.hints import Hints
from greenloop.repair.scope import NameScope
from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.source import Located, TextEdit

_ATOMIC_NODES = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr),
)
_UNPARENTHESIZED_PARENTS = (
    *(ast.Call, ast.Return, ast.Assign, ast.AugAssign, ast.keyword, ast.Slice, ast.Tuple, ast.List),
)
_MAX_DESCRIPTION_CHARS = 70


@dataclass(frozen=True)
class CandidateEdit(TextEdit):
    """An edit that may repair a module."""

    kind: str
    description: str  # what it does
    cost: float  # 1 for the most common kinds of repair, higher for others
    line: int  # where the fault would be, from 1


Edits = Iterator[CandidateEdit]


@dataclass(frozen=True)
class RepairContext(NodeContext):
    """A node's context, the names in scope, and hints from the failures."""

    scope: NameScope = field(default_factory=lambda: NameScope(None))
    hints: Hints = field(default_factory=Hints)

    @property
    def is_stored(self) -> bool:
        """Whether the node is assigned to or deleted, and not read."""
        return isinstance(getattr(self.node, "ctx", None), (ast.Store, ast.Del))

    @property
    def is_condition(self) -> bool:
        """Whether the node is the test of a statement or expression, or a filter."""
        if isinstance(self.parent, ast.comprehension):
            return self.node in self.parent.ifs
        return isinstance(self.parent, (ast.If, ast.While, ast.IfExp)) and self.is_field("test")

    def argument_texts(self, node: ast.Call) -> list[str]:
        """Return the text of each argument of a call."""
        return [*map(self.text, node.args), *map(self.text, node.keywords)]

    def call_text(self, node: ast.Call, arguments: Iterable[str]) -> str:
        """Return the text of a call with other arguments."""
        return f"{self.text(node.func)}({', '.join(arguments)})"

    def get_parenthesized_text(self, node: ast.expr) -> str:
        """Return a node's text as an operand, in parentheses if it needs them."""
        text = self.text(node)
        return text if isinstance(node, _ATOMIC_NODES) else f"({text})"

    def replacement_text(self, node: ast.expr) -> str:
        """Return a node's text to replace this context's node, in parentheses if it needs them."""
        text = self.text(node)
        needs_none = isinstance(self.parent, _UNPARENTHESIZED_PARENTS) and not self.is_field("func")
        return text if needs_none and "\n" not in text else self.get_parenthesized_text(node)

    def edit(self, node: Located, text: str, kind: str, cost: float) -> CandidateEdit:
        """Return the edit that replaces a node."""
        return self.edit_span(*self.source.span(node), text, kind, cost)

    def edit_span(self, start: int, end: int, text: str, kind: str, cost: float) -> CandidateEdit:
        """Return the edit that replaces the characters `start` to `end`."""
        old, new = (_shorten(item) for item in (self.source.text[start:end], text))
        description = f"{kind}: `{old}` becomes `{new}`" if old else f"{kind}: `{new}` is added"
        if not new:
            description = f"{kind}: `{old}` is gone"
        line = self.source.get_line_number(start)
        return CandidateEdit(start, end, text, kind, description, cost, line)


def _shorten(text: str) -> str:
    text = " ".join(text[: 10 * _MAX_DESCRIPTION_CHARS].split())  # a node may be a whole module
    return text if len(text) <= _MAX_DESCRIPTION_CHARS else f"{text[:_MAX_DESCRIPTION_CHARS]}…"
