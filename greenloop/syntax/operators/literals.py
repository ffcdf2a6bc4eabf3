"""Operators on literals: numbers, strings, True, False, None, f-strings."""

import ast
import re
from collections.abc import Iterator

from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.operators.protocol import edit_operator
from greenloop.syntax.source import TextEdit

_LITERAL_START = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>'''|\"\"\"|'|\")")
_MARK = "XX"


def _is_in_f_string(context: NodeContext) -> bool:
    return isinstance(context.parent, ast.JoinedStr)


@edit_operator("truth", cost=1.3)
def negate_bool(context: NodeContext, node: ast.Constant) -> Iterator[TextEdit]:
    """Replace True by False and False by True."""
    if isinstance(node.value, bool) and not _is_in_f_string(context):
        yield context.replace(node, str(not node.value))


@edit_operator("number")
def change_number(context: NodeContext, node: ast.Constant) -> Iterator[TextEdit]:
    """Replace a number by its neighbours."""
    value = None if _is_in_f_string(context) else node.value
    if isinstance(value, int) and not isinstance(value, bool):
        yield context.replace(node, str(value + 1))
        if value > 0:
            yield context.replace(node, str(value - 1))
    elif isinstance(value, float):
        yield context.replace(node, repr(value + 1.0) if abs(value) < 1e15 else "1.0")
    elif isinstance(value, complex):
        yield context.replace(node, f"({context.text(node)} + 1)")


@edit_operator("nothing")
def replace_none(context: NodeContext, node: ast.Constant) -> Iterator[TextEdit]:
    """Replace None by an empty string; as a default by True, as many functions test its truth."""
    if node.value is None and not _is_in_f_string(context):
        yield context.replace(node, "True" if isinstance(context.parent, ast.arguments) else '""')


@edit_operator("text")
def change_string(context: NodeContext, node: ast.Constant) -> Iterator[TextEdit]:
    """Put marks into a string; not into the constant parts of an f-string."""
    if isinstance(node.value, (str, bytes)) and not _is_in_f_string(context):
        text = mark_literal(context.text(node))
        if text is not None:
            yield context.replace(node, text)


def mark_literal(literal: str) -> str | None:
    """Return a literal with a mark at its start and, unless it is concatenated, at its end."""
    opening = _LITERAL_START.match(literal)
    if opening is None:
        return None
    content, quote = literal[opening.end() :], opening["quote"]
    if not content.endswith(quote) or re.search(rf"(?<!\\){quote}", content[: -len(quote)]):
        return literal[: opening.end()] + _MARK + content  # several literals, concatenated
    return literal[: opening.end()] + _MARK + content[: -len(quote)] + _MARK + quote


@edit_operator("formatted")
def change_f_string(context: NodeContext, node: ast.JoinedStr) -> Iterator[TextEdit]:
    """Put a mark at the start of an f-string."""
    text = context.text(node)
    opening = _LITERAL_START.match(text)
    if opening is not None:
        yield context.replace(node, text[: opening.end()] + _MARK + text[opening.end() :])
