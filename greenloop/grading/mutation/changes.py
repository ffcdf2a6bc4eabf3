"""Description of a mutant's change: the code around the edit, before and after."""

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.operators.protocol import Comparison, iter_comparisons

_MAX_SPAN_CHARS, _MAX_CHARS = 60, 400


def describe_change(proposed: ProposedEdit) -> tuple[str, str]:
    """Return the expression or statement around an edit, or the edit alone, before and after."""
    source, edit = proposed.context.source, proposed.edit
    span = start, end = next(_find_spans_around(proposed), (edit.start, edit.end))
    before = source.text[start:end]
    after = source.text[start : edit.start] + edit.text + source.text[edit.end : end]
    if span == (edit.start, edit.end) and not before.startswith("("):
        after = _strip_parentheses(after)
    return _to_line(before), _to_line(after)


def _find_spans_around(proposed: ProposedEdit) -> Iterator[tuple[int, int]]:
    """Yield spans that contain more than the edit, but no other statement."""
    context, edit = proposed.context, proposed.edit
    if found := _find_comparison(proposed):
        yield context.source.span(found.left)[0], context.source.span(found.right)[1]
    for node in (context.node, *reversed(context.ancestors)):
        if isinstance(node, ast.stmt) and hasattr(node, "body"):
            return
        if isinstance(node, (ast.expr, ast.stmt)) and not isinstance(node, ast.Slice):
            start, end = context.source.span(node)
            is_around = start <= edit.start and edit.end <= end
            if is_around and edit.end - edit.start < end - start <= _MAX_SPAN_CHARS:
                yield start, end


def _find_comparison(proposed: ProposedEdit) -> Comparison | None:
    """Return the comparison whose operator the edit replaces."""
    node, source = proposed.context.node, proposed.context.source
    found = iter_comparisons(source, node) if isinstance(node, ast.Compare) else iter(())
    return next((item for item in found if item.span[0] == proposed.edit.start), None)


def _strip_parentheses(text: str) -> str:
    """Return an expression without the parentheses around it, which only the mutated code needs."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    try:
        is_same = ast.dump(ast.parse(text[1:-1])) == ast.dump(ast.parse(text))
    except SyntaxError:  # as in `(a) + (b)`
        return text
    return text[1:-1] if is_same else text


def _to_line(text: str) -> str:
    words = " ".join(text[: 2 * _MAX_CHARS].split())
    return words if len(words) <= _MAX_CHARS else f"{words[: _MAX_CHARS - 1]}…"
