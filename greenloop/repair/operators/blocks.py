"""Lines and indentation of statements, and edits that insert lines."""

import ast
from dataclasses import dataclass

from greenloop.repair.context import CandidateEdit, RepairContext
from greenloop.syntax.nodes import get_line_span


@dataclass(frozen=True)
class StatementLines:
    """Lines that hold one statement and no other code. `end` is after the last line break."""

    start: int
    end: int
    indent: str
    text: str

    def reindent(self, old: str, new: str) -> str:
        """Return the lines with another indentation."""
        lines = self.text.splitlines(keepends=True)
        return "".join(new + line[len(old) :] if line.startswith(old) else line for line in lines)


def find_statement_lines(context: RepairContext, node: ast.stmt) -> StatementLines | None:
    """Return the lines of a statement; None if other code is on them."""
    source, text = context.source, context.source.text
    first, last = get_line_span(node)
    start, end = source.line_start(first), source.line_end(last)
    indent = text[start : source.offset(first, node.col_offset)]
    if getattr(node, "decorator_list", []):
        indent = text[start : end - len(text[start:end].lstrip())]
    tail = text[source.span(node)[1] : end].strip()
    if indent.strip() or (tail and not tail.startswith("#")):
        return None
    after = end
    while after < len(text) and text[after] in "\r\n":
        after += 1
        if text[after - 1] == "\n":
            break
    return StatementLines(start, after, indent, text[start:after])


def find_containing_body(context: RepairContext) -> list[ast.stmt] | None:
    """Return the list of statements that the node is one of; None if it is in no list."""
    for _, value in ast.iter_fields(context.parent) if context.parent is not None else ():
        if isinstance(value, list) and any(item is context.node for item in value):
            return value
    return None


def insert_before(
    context: RepairContext, anchor: StatementLines, line: str, kind: str, cost: float
) -> CandidateEdit:
    """Return the edit that inserts one or more lines before a statement."""
    text = "".join(f"{anchor.indent}{item}\n" for item in line.split("\n"))
    return context.edit_span(anchor.start, anchor.start, text, kind, cost)


def insert_after(
    context: RepairContext, anchor: StatementLines, line: str, kind: str, cost: float
) -> CandidateEdit:
    """Return the edit that inserts a line after a statement, with the same indentation."""
    text = f"{anchor.indent}{line}\n"
    if not anchor.text.endswith("\n"):
        text = "\n" + text.rstrip("\n")
    description = f"{kind}: `{line}` is added"
    number = context.source.get_line_number(anchor.start)  # its last line may never run
    return CandidateEdit(anchor.end, anchor.end, text, kind, description, cost, number)


def is_jump_statement(node: ast.stmt) -> bool:
    """Return whether no statement after this one is executed."""
    return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))
