"""Operators on values: numbers, texts, True, False, None, f-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation
from greenloop.syntax.source import Source

_LITERAL_START = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>'''|\"\"\"|'|\")")
_MARK = "XX"


def mutate_constant(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """A number becomes its neighbours, a text another text, True False, None a text."""
    if not isinstance(node, ast.Constant) or isinstance(location.parent, ast.JoinedStr):
        return
    start, end = source.span(node)
    for operator, text in _iter_alternatives(node.value, source.text[start:end]):
        yield ProposedChange(operator, start, end, text)


def _iter_alternatives(value: object, literal: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, bool):
        yield "truth", str(not value)
    elif isinstance(value, int):
        yield "number", str(value + 1)
        if value > 0:
            yield "number", str(value - 1)
    elif isinstance(value, float):
        yield "number", repr(value + 1.0) if abs(value) < 1e15 else "1.0"
    elif isinstance(value, complex):
        yield "number", f"({literal} + 1)"
    elif value is None:
        yield "nothing", '""'
    elif isinstance(value, (str, bytes)):
        text = mark_literal(literal)
        if text is not None:
            yield "text", text


def mark_literal(literal: str) -> str | None:
    """A literal with a mark at its beginning and, where it is one piece, at its end."""
    opening = _LITERAL_START.match(literal)
    if opening is None:
        return None
    inner = literal[opening.end() :]
    quote = opening["quote"]
    if not inner.endswith(quote) or re.search(rf"(?<!\\){quote}", inner[: -len(quote)]):
        return literal[: opening.end()] + _MARK + inner  # several pieces, side by side
    return literal[: opening.end()] + _MARK + inner[: -len(quote)] + _MARK + quote


def mutate_f_string(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """An f-string gets a mark at its beginning."""
    if not isinstance(node, ast.JoinedStr):
        return
    start, end = source.span(node)
    opening = _LITERAL_START.match(source.text, start, end)
    if opening is not None:
        place_of_mark = opening.end()
        text = source.text[start:place_of_mark] + _MARK + source.text[place_of_mark:end]
        yield ProposedChange("formatted", start, end, text)
