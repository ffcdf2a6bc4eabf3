"""Whole lines of a module: where a statement begins and ends, and how deep it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

STEP = "    "


@dataclass(frozen=True)
class Block:
    """A statement that has its lines to itself. `end` is after its last line's break."""

    start: int
    end: int
    indent: str
    text: str

    def shifted(self, old: str, new: str) -> str:
        """Its lines with another indentation."""
        lines = self.text.splitlines(keepends=True)
        return "".join(new + line[len(old) :] if line.startswith(old) else line for line in lines)


def block(spot: Spot, node: ast.stmt) -> Block | None:
    """None where something else stands on its lines."""
    source = spot.source
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
    return Block(start, after, indent, source.text[start:after])


def body_of(spot: Spot) -> list[ast.stmt] | None:
    """The list of statements that the node is one of."""
    node = spot.node
    for _, value in ast.iter_fields(spot.parent) if spot.parent is not None else ():
        if isinstance(value, list) and any(item is node for item in value):
            return value
    return None


def before(spot: Spot, here: Block, line: str, kind: str, cost: float) -> Edit:
    """A line (or several) put in before a statement."""
    text = "".join(f"{here.indent}{item}\n" for item in line.split("\n"))
    return spot.span(here.start, here.start, text, kind, cost)


def after(spot: Spot, here: Block, line: str, kind: str, cost: float) -> Edit:
    """A line put in after a statement, as deep as that."""
    text = "".join(f"{here.indent}{item}\n" for item in line.split("\n"))
    if not here.text.endswith("\n"):
        text = "\n" + text.rstrip("\n")
    return Edit(
        here.end,
        here.end,
        text,
        kind,
        f"{kind}: `{line}` is added",
        cost,
        spot.source.line(max(here.start, here.end - 1)),
    )


def ends_a_way(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def compound(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
            yield inner
