"""One node of a module, with all that an operator needs to propose edits of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from greenloop.repair.hints import Hints
from greenloop.repair.scope import Scope
from greenloop.syntax.edit import Edit
from greenloop.syntax.source import Located, Source

_ATOMS = (
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
_FREE = (
    ast.Call,
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.keyword,
    ast.Slice,
    ast.Tuple,
    ast.List,
)
_MOST_WORDS = 70


@dataclass(frozen=True)
class Spot:
    node: ast.AST
    ancestors: tuple[ast.AST, ...]
    source: Source
    scope: Scope
    hints: Hints

    @property
    def parent(self) -> ast.AST | None:
        return self.ancestors[-1] if self.ancestors else None

    def text(self, node: Located) -> str:
        return self.source.of(node)

    def atom(self, node: ast.expr) -> str:
        """Its text, in parentheses where it would fall apart without."""
        text = self.source.of(node)
        return text if isinstance(node, _ATOMS) else f"({text})"

    def in_place(self, node: ast.expr) -> str:
        """Its text as it can stand in the place of this spot's node."""
        text = self.source.of(node)
        free = isinstance(self.parent, _FREE) and not self.field_of("func") and "\n" not in text
        return text if free else self.atom(node)

    def replace(self, node: Located, text: str, kind: str, cost: float) -> Edit:
        """One node has another text."""
        return self.span(*self.source.span(node), text, kind, cost)

    def span(self, start: int, end: int, text: str, kind: str, cost: float) -> Edit:
        old, new = (_short(item) for item in (self.source.text[start:end], text))
        words = f"{kind}: `{old}` becomes `{new}`" if old else f"{kind}: `{new}` is added"
        if not new:
            words = f"{kind}: `{old}` is gone"
        return Edit(start, end, text, kind, words, cost, self.source.line(start))

    def field_of(self, name: str) -> bool:
        """Whether the node is this field of its parent."""
        return getattr(self.parent, name, None) is self.node


Operator = Callable[[Spot], Iterator[Edit]]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}…"
