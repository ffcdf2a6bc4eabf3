"""Statements moved, swapped, left out; loops left otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.repair.operators.blocks import STEP, Block, block, body_of, ends_a_way
from greenloop.syntax.edit import Edit

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_BLOCKS = (*_LOOPS, ast.If, ast.With)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def moved(spot: Spot) -> Iterator[Edit]:
    """The last statement of a block moved behind it; the one behind it moved into it."""
    node = spot.node
    body = body_of(spot) if isinstance(node, ast.stmt) else None
    here = block(spot, node) if isinstance(node, ast.stmt) and body is not None else None
    if here is None or body is None or not isinstance(node, _BLOCKS):
        return
    at = next(n for n, item in enumerate(body) if item is node)
    yield from _out(spot, node, here)
    if at + 1 < len(body) and not isinstance(body[at + 1], _DEFINITIONS):
        yield from _into(spot, node, here, body[at + 1])


def _out(spot: Spot, node: ast.stmt, here: Block) -> Iterator[Edit]:
    inner = _last_body(node)
    last = block(spot, inner[-1]) if len(inner) > 1 else None
    if last is not None and last.end == here.end:
        text = last.shifted(last.indent, here.indent)
        cost = 1.6 if isinstance(inner[-1], ast.Return) else 1.9
        yield spot.span(last.start, last.end, text, "moved out of the block", cost)


def _last_body(node: ast.stmt) -> list[ast.stmt]:
    """Of a block, its last body."""
    other: list[ast.stmt] = getattr(node, "orelse", [])
    body: list[ast.stmt] = getattr(node, "body", [])
    return other or body


def _into(spot: Spot, node: ast.stmt, here: Block, following: ast.stmt) -> Iterator[Edit]:
    then = block(spot, following)
    inner = _last_body(node)
    last = block(spot, inner[-1])
    if then is None or last is None or last.end != here.end or ends_a_way(inner[-1]):
        return
    between = spot.source.text[here.end : then.start]
    if between.strip():
        return
    text = then.shifted(then.indent, last.indent)
    yield spot.span(here.end, then.end, text, "moved into the block", 2.0)
    if isinstance(inner[-1], _BLOCKS) and (deep := block(spot, _last_body(inner[-1])[-1])):
        text = then.shifted(then.indent, deep.indent)
        yield spot.span(here.end, then.end, text, "moved into the block", 2.2)


def swapped(spot: Spot) -> Iterator[Edit]:
    """Two neighbours in the other order."""
    node = spot.node
    body = body_of(spot) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or isinstance(node, _DEFINITIONS):
        return
    at = next(n for n, item in enumerate(body) if item is node)
    if at + 1 >= len(body) or isinstance(body[at + 1], (*_DEFINITIONS, ast.Return)):
        return
    first, second = block(spot, node), block(spot, body[at + 1])
    if first is None or second is None or not first.text.endswith("\n"):
        return
    between = spot.source.text[first.end : second.start]
    tail = second.text if second.text.endswith("\n") else second.text + "\n"
    text = tail + between + first.text
    yield spot.span(first.start, second.end, text, "swapped statements", 1.8)


def left_out(spot: Spot) -> Iterator[Edit]:
    """A statement gone, or a block without its head."""
    node = spot.node
    body = body_of(spot) if isinstance(node, ast.stmt) else None
    if body is None or not isinstance(node, ast.stmt) or isinstance(node, _DEFINITIONS):
        return
    here = block(spot, node)
    if here is None:
        return
    if len(body) > 1:
        yield spot.span(here.start, here.end, "", "statement left out", 3.0)
    if isinstance(node, _BLOCKS) and not getattr(node, "orelse", None):
        first = block(spot, node.body[0])
        last = block(spot, node.body[-1])
        if first is not None and last is not None:
            inner = Block(
                first.start, last.end, first.indent, spot.source.text[first.start : last.end]
            )
            text = inner.shifted(first.indent, here.indent)
            yield spot.span(here.start, here.end, text, "block without its head", 3.2)


def loop_control(spot: Spot) -> Iterator[Edit]:
    """`break` and `continue` for each other; `if` and `while`; `if` and `elif`; `return`, `yield`."""
    node = spot.node
    if isinstance(node, ast.Break):
        yield spot.replace(node, "continue", "loop", 1.3)
        yield spot.replace(node, "return", "loop", 2.6)
    elif isinstance(node, ast.Continue):
        yield spot.replace(node, "break", "loop", 1.3)
    elif isinstance(node, (ast.If, ast.While)):
        start = spot.source.span(node)[0]
        word = "if" if isinstance(node, ast.If) else "while"
        if spot.source.text.startswith(word, start):
            other = "while" if word == "if" else "if"
            if word == "while" or not node.orelse:
                yield spot.span(start, start + len(word), other, "loop", 2.4)
            yield from _joined(spot, start, word)
    elif isinstance(node, ast.Return) and node.value is not None:
        start = spot.source.span(node)[0]
        yield spot.span(start, start + len("return"), "yield", "yield", 3.2)
    elif isinstance(node, ast.Yield) and node.value is not None:
        yield spot.replace(node, f"yield from {spot.text(node.value)}", "yield", 1.6)
    elif isinstance(node, ast.YieldFrom):
        yield spot.replace(node, f"yield {spot.text(node.value)}", "yield", 1.6)


def _joined(spot: Spot, start: int, word: str) -> Iterator[Edit]:
    """An `if` behind an `if` becomes `elif`."""
    body = body_of(spot)
    if word == "if" and body is not None:
        at = next(n for n, item in enumerate(body) if item is spot.node)
        if at and isinstance(body[at - 1], ast.If):
            yield spot.span(start, start + len(word), "elif", "elif", 2.0)


def swapped_bodies(spot: Spot) -> Iterator[Edit]:
    """`if` and `else` with each other's statements."""
    node = spot.node
    if not isinstance(node, ast.If) or not node.orelse:
        return
    first, last = block(spot, node.body[0]), block(spot, node.body[-1])
    third, fourth = block(spot, node.orelse[0]), block(spot, node.orelse[-1])
    if not (first and last and third and fourth) or first.indent != third.indent:
        return
    whole = spot.source.text
    body, middle = whole[first.start : last.end], whole[last.end : third.start]
    other = whole[third.start : fourth.end]
    other += "" if other.endswith("\n") else "\n"
    yield spot.span(first.start, fourth.end, other + middle + body, "swapped branches", 1.8)


__all__ = ["STEP", "left_out", "loop_control", "moved", "swapped", "swapped_bodies"]
