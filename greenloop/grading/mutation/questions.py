"""The question that a test would have to ask to notice a mutant, in plain English."""

from __future__ import annotations

import ast

from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.operators import iter_comparisons

_MAX_CHARS, _MAX_LINE_CHARS = 60, 1000


def build_question(proposed: ProposedEdit) -> str:
    """Return one sentence: the operator's question, filled in for one mutant."""
    source = proposed.context.source
    values = {
        "where": _describe_location(proposed),
        "old": _truncate(proposed.original.strip(" ,\n")),
        "new": _truncate(_strip_parentheses(proposed.edit.text)),
        "line": _truncate(source.get_line(source.get_line_number(proposed.edit.start))),
        **_describe_comparison(proposed),
    }
    return proposed.operator.question.format(**values)


def _describe_location(proposed: ProposedEdit) -> str:
    node = proposed.context.node
    own_name = getattr(node, "name", "") if isinstance(node, ast.stmt) else ""
    name = ".".join(part for part in (proposed.context.function, own_name) if part)
    return name or "the module"


def _describe_comparison(proposed: ProposedEdit) -> dict[str, str]:
    """Return the comparison whose operator the edit replaces, and its two operands."""
    node, source = proposed.context.node, proposed.context.source
    if not isinstance(node, ast.Compare):
        return {}
    for item in iter_comparisons(source, node):
        if item.span[0] == proposed.edit.start:
            sides = {
                "left": source.get_segment(item.left),
                "right": source.get_segment(item.right),
                "compare": source.text[source.span(item.left)[0] : source.span(item.right)[1]],
            }
            return {name: _truncate(text) for name, text in sides.items()}
    return {}


def _strip_parentheses(text: str) -> str:
    """Return the text without the parentheses that the operator put around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _truncate(text: str) -> str:
    words = " ".join(text[:_MAX_LINE_CHARS].split())
    return words if len(words) <= _MAX_CHARS else f"{words[: _MAX_CHARS - 1]}…"
