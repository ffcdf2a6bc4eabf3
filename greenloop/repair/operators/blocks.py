"""Whole lines of a module: where a statement begins and ends, and how deep it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.repair.context import NodeContext
from greenloop.syntax.edit import TextEdit

INDENT_STEP = "    "


@dataclass(frozen=True)
class StatementLines:
    """A statement that has its lines to itself. `end` is after its last line's break."""

    start: int
    end: int
    indent: str
    text: str

    def reindent(self, old: str, new: str) -> str:
        """Its lines with another indentation."""
        lines = self.text.splitlines(keepends=True)
        return "".join(new + line[len(old) :] if line.startswith(old) else line for line in lines)


def find_statement_lines(context: NodeContext, node: ast.stmt) -> StatementLines | None:
    """None where something else stands on its lines."""
    source = context.source
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(item.lineno for item in decorators)])
    start = source.line_start(first)
    last = node.end_lineno or node.lineno
    end = source.line_end(last)
    indent = source.text[
        start : source.offset(first, node.col_offset) - len("@") * bool(decorators)
    ]
    if decorators:
        indent = source.text[start:end][
            : len(source.text[start:end]) - len(source.text[start:end].lstrip())
        ]
    tail = source.text[source.span(node)[1] : end].strip()
    if indent.strip() or (tail and not tail.startswith("#")):
        return None
    after = end
    while after < len(source.text) and source.text[after] in "\r\n":
        after += 1
        if source.text[after - 1] == "\n":
            break
    return StatementLines(start, after, indent, source.text[start:after])


def find_containing_body(context: NodeContext) -> list[ast.stmt] | None:
    """The list of statements that the node is one of."""
    node = context.node
    for _, value in ast.iter_fields(context.parent) if context.parent is not None else ():
        if isinstance(value, list) and any(item is node for item in value):
            return value
    return None


def insert_before(
    context: NodeContext, anchor: StatementLines, line: str, kind: str, cost: float
) -> TextEdit:
    """A line (or several) put in before a statement."""
    text = "".join(f"{anchor.indent}{item}\n" for item in line.split("\n"))
    return context.replace_span(anchor.start, anchor.start, text, kind, cost)


def insert_after(
    context: NodeContext, anchor: StatementLines, line: str, kind: str, cost: float
) -> TextEdit:
    """A line put in after a statement, as deep as that."""
    text = "".join(f"{anchor.indent}{item}\n" for item in line.split("\n"))
    if not anchor.text.endswith("\n"):
        text = "\n" + text.rstrip("\n")
    return TextEdit(
        anchor.end,
        anchor.end,
        text,
        kind,
        f"{kind}: `{line}` is added",
        cost,
        context.source.get_line_number(max(anchor.start, anchor.end - 1)),
    )


def is_jump_statement(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def iter_bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
            yield inner
