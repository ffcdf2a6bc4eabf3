"""One node of a module, with all that an operator needs to propose edits of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from greenloop.repair.hints import Hints
from greenloop.repair.scope import NameScope
from greenloop.syntax.edit import TextEdit
from greenloop.syntax.source import Located, Source

_ATOMIC_NODES = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.JoinedStr,
)
_UNPARENTHESIZED_PARENTS = (
    ast.Call,
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.keyword,
    ast.Slice,
    ast.Tuple,
    ast.List,
)
_MAX_DESCRIPTION_CHARS = 70


@dataclass(frozen=True)
class NodeContext:
    node: ast.AST
    ancestors: tuple[ast.AST, ...]
    source: Source
    scope: NameScope
    hints: Hints

    @property
    def parent(self) -> ast.AST | None:
        return self.ancestors[-1] if self.ancestors else None

    def text(self, node: Located) -> str:
        return self.source.get_segment(node)

    def parenthesized_text(self, node: ast.expr) -> str:
        """Its text, in parentheses where it would fall apart without."""
        text = self.source.get_segment(node)
        return text if isinstance(node, _ATOMIC_NODES) else f"({text})"

    def replacement_text(self, node: ast.expr) -> str:
        """Its text as it can stand in the place of this spot's node."""
        text = self.source.get_segment(node)
        free = (
            isinstance(self.parent, _UNPARENTHESIZED_PARENTS)
            and not self.is_field("func")
            and "\n" not in text
        )
        return text if free else self.parenthesized_text(node)

    def replace_node(self, node: Located, text: str, kind: str, cost: float) -> TextEdit:
        """One node has another text."""
        return self.replace_span(*self.source.span(node), text, kind, cost)

    def replace_span(self, start: int, end: int, text: str, kind: str, cost: float) -> TextEdit:
        old, new = (_shorten(item) for item in (self.source.text[start:end], text))
        words = f"{kind}: `{old}` becomes `{new}`" if old else f"{kind}: `{new}` is added"
        if not new:
            words = f"{kind}: `{old}` is gone"
        return TextEdit(start, end, text, kind, words, cost, self.source.get_line_number(start))

    def is_field(self, name: str) -> bool:
        """Whether the node is this field of its parent."""
        return getattr(self.parent, name, None) is self.node


Operator = Callable[[NodeContext], Iterator[TextEdit]]


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_DESCRIPTION_CHARS else f"{text[:_MAX_DESCRIPTION_CHARS]}…"
