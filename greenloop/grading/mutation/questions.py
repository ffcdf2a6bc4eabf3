"""A mutant in plain English: what it changes, and the question that a test would have to ask."""

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.operators.protocol import Comparison, iter_comparisons

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


def describe_change(proposed: ProposedEdit) -> tuple[str, str]:
    """Return the expression or statement around an edit, or the edit alone, before and after."""
    source, edit = proposed.context.source, proposed.edit
    start, end = next(_find_spans_around(proposed), (edit.start, edit.end))
    after = source.text[start : edit.start] + edit.text + source.text[edit.end : end]
    return _truncate(source.text[start:end]), _truncate(after)


def _find_spans_around(proposed: ProposedEdit) -> Iterator[tuple[int, int]]:
    """Yield spans that hold more than an edit, and no other statement."""
    context, edit = proposed.context, proposed.edit
    if found := _find_comparison(proposed):
        yield context.source.span(found.left)[0], context.source.span(found.right)[1]
    for node in (context.node, *reversed(context.ancestors)):
        if isinstance(node, ast.stmt) and hasattr(node, "body"):
            return
        if isinstance(node, (ast.expr, ast.stmt)) and not isinstance(node, ast.Slice):
            start, end = context.source.span(node)
            is_around = start <= edit.start and edit.end <= end
            if is_around and edit.end - edit.start < end - start <= _MAX_CHARS:
                yield start, end


def _find_comparison(proposed: ProposedEdit) -> Comparison | None:
    """Return the comparison whose operator the edit replaces."""
    node, source = proposed.context.node, proposed.context.source
    found = iter_comparisons(source, node) if isinstance(node, ast.Compare) else iter(())
    return next((item for item in found if item.span[0] == proposed.edit.start), None)


def _describe_comparison(proposed: ProposedEdit) -> dict[str, str]:
    """Return the comparison whose operator the edit replaces, and its two operands."""
    source, item = proposed.context.source, _find_comparison(proposed)
    if item is None:
        return {}
    left, right = source.get_segment(item.left), source.get_segment(item.right)
    whole = source.text[source.span(item.left)[0] : source.span(item.right)[1]]
    sides = {"left": left, "right": right, "compare": whole}
    return {name: _truncate(text) for name, text in sides.items()}


def _strip_parentheses(text: str) -> str:
    """Return the text without the parentheses that the operator put around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _truncate(text: str) -> str:
    words = " ".join(text[:_MAX_LINE_CHARS].split())
    return words if len(words) <= _MAX_CHARS else f"{words[: _MAX_CHARS - 1]}…"
