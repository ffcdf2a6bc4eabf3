"""The question that a test would have to ask to notice a mutant, in plain English."""

from __future__ import annotations

import ast
from itertools import pairwise

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation
from greenloop.syntax.source import Source

_MAX_CHARS = 60
_QUESTIONS = {
    "arithmetic": "Which result of {where} differs when `{old}` is computed as `{new}`?",
    "augmented": "What does {where} give when `{line}` works the other way?",
    "accumulated": "What does {where} give when `{line}` happens a second time?",
    "boundary": "What does {where} do when {left} equals {right}? (boundary of `{compare}`)",
    "comparison": "What does {where} do when `{compare}` holds, and what when it does not?",
    "identity": "What does {where} do when `{compare}` holds, and what when it does not?",
    "membership": "What does {where} do when `{compare}` holds, and what when it does not?",
    "boolean": "What does {where} do when only one side of `{old}` holds?",
    "unary": "What changes in {where} when `{old}` is `{new}`?",
    "truth": "Which behaviour of {where} depends on `{old}` in `{line}`?",
    "number": "Which exact result of {where} depends on the {old} in `{line}`?",
    "nothing": "What does {where} do when the None in `{line}` is something else?",
    "text": "Which exact result of {where} contains, or depends on, the text {old}?",
    "formatted": "What exactly is the text that {where} makes with {old}?",
    "condition": "What does {where} do when `{old}` holds, and what when it does not?",
    "no-turn": "What does {where} give when the loop over `{old}` has something to do?",
    "break": "What does {where} do with what comes after the point where it stops looking?",
    "continue": "What does {where} do with what comes after something that it skips?",
    "result": "What exactly does {where} return as `{old}`?",
    "yielded": "What exactly does {where} yield as `{old}`?",
    "assignment": "Which result of {where} depends on the value of `{old}`?",
    "call-removed": "What is seen from outside when `{old}` has been called in {where}?",
    "raise-removed": "When does {where} raise, and does a test see that it does? (`{old}`)",
    "statement-removed": "What is different after `{old}` in {where}?",
    "handler": "What does {where} do when {old} is raised inside it?",
    "exception": "Which type of exception exactly does {where} raise? ({old})",
    "other-call": "On which input of {where} do `{old}` and `{new}` differ?",
    "argument": "What in {where} depends on the argument `{old}` in `{line}`?",
    "keyword": "What in {where} depends on `{old}` being given?",
    "unwrapped": "On which input of {where} do `{old}` and `{new}` differ?",
    "slice": "On which input of {where} is `{old}` needed in `{line}`?",
    "default": "What does {where} do when the parameter with the default `{old}` is left out?",
    "decorator": "What does {old} do for {where} that a caller can see?",
}


def build_question(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> str:
    """One sentence about one mutant."""
    old = source.text[change.start : change.end]
    values = {
        "where": _describe_location(node, location),
        "old": _truncate(old.strip(" ,\n")),
        "new": _truncate(_strip_parentheses(change.text)),
        "line": _truncate(_get_line_text(source, change.start)),
        **_describe_comparison(change, node, source),
    }
    return _QUESTIONS[change.operator].format(**values)


def list_operator_names() -> tuple[str, ...]:
    """The names of all operators."""
    return tuple(_QUESTIONS)


def _describe_location(node: ast.AST, location: NodeLocation) -> str:
    own = getattr(node, "name", "") if isinstance(node, ast.stmt) else ""
    name = ".".join(part for part in (location.function, own) if part)
    return name or "the module"


def _describe_comparison(change: ProposedChange, node: ast.AST, source: Source) -> dict[str, str]:
    """The comparison that a sign belongs to: itself, what is left of it, and what is right."""
    if not isinstance(node, ast.Compare):
        return {}
    operands = [node.left, *node.comparators]
    for left, right in pairwise(operands):
        if source.span(left)[1] <= change.start < source.span(right)[0]:
            compare = source.text[source.span(left)[0] : source.span(right)[1]]
            sides = {
                "left": source.get_segment(left),
                "right": source.get_segment(right),
                "compare": compare,
            }
            return {name: _truncate(text) for name, text in sides.items()}
    return {}


def _get_line_text(source: Source, offset: int) -> str:
    line = source.get_line_number(offset)
    return source.text[source.line_start(line) : source.line_end(line)]


def _strip_parentheses(text: str) -> str:
    """Without the parentheses that the operator put around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _truncate(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_CHARS else f"{words[: _MAX_CHARS - 1]}…"
