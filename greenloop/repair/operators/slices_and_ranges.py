"""Slices, subscripts and ranges."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit


def sliced(spot: Spot) -> Iterator[Edit]:
    """A bound of a slice left out, added, or another."""
    node = spot.node
    if not isinstance(node, ast.Slice):
        return
    parts = [spot.text(item) if item else "" for item in (node.lower, node.upper, node.step)]
    names = [item for item in spot.scope.names if item not in parts]
    for at in range(3):
        fresh = ["1", "-1", *names] if at < 2 else ["-1", "2"]
        for text in [""] if parts[at] else fresh:
            yield _slice(spot, node, [*parts[:at], text, *parts[at + 1 :]], 2.0)
    lower, upper, step = parts
    if upper and lower:
        yield _slice(spot, node, [lower, f"{lower} + {upper}", step], 2.0)


def _slice(spot: Spot, node: ast.Slice, parts: list[str], cost: float) -> Edit:
    text = f"{parts[0]}:{parts[1]}" + (f":{parts[2]}" if parts[2] else "")
    return spot.replace(node, text, "slice", cost)


def subscript(spot: Spot) -> Iterator[Edit]:
    """`x[i]` becomes `x`, `x[0]` becomes `x[-1]`, `x[i][j]` becomes `x[j][i]`."""
    node = spot.node
    if not isinstance(node, ast.Subscript):
        return
    base, inner = spot.text(node.value), spot.text(node.slice)
    if isinstance(node.ctx, ast.Load):
        cost = 2.3 if isinstance(node.slice, ast.Slice) else 2.6
        yield spot.replace(node, base, "subscript left out", cost)
    if isinstance(node.slice, ast.Slice):
        return
    for other in ("-1", "0"):
        if inner != other:
            yield spot.replace(node.slice, other, "index", 2.0)
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        root, first = spot.text(node.value.value), spot.text(node.value.slice)
        yield spot.replace(node, f"{root}[{inner}][{first}]", "swapped indices", 1.5)
    if isinstance(node.ctx, ast.Load):
        for default in ("", ", 0", ", None", ", []"):
            yield spot.replace(node, f"{base}.get({inner}{default})", "missing key", 2.6)


def ranged(spot: Spot) -> Iterator[Edit]:
    """`range(n)` with another start, end or step; ends one off are tried as any value is."""
    node = spot.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.keywords:
        return
    given = [spot.text(item) for item in node.args]
    if node.func.id == "range" and given:
        if len(given) == 1:
            starts = ["1", *spot.scope.names[:6]]
            for start in starts:
                yield spot.replace(node, f"range({start}, {given[0]})", "range", 1.8)
            yield spot.replace(node, f"range({given[0]} - 1, -1, -1)", "range", 2.6)
        elif len(given) == 2:
            start, end = given
            yield spot.replace(node, f"range({end})", "range", 2.0)
            yield spot.replace(node, f"range({end} - 1, {start} - 1, -1)", "range", 2.6)
            yield spot.replace(node, f"range({start}, {end}, -1)", "range", 2.8)
    elif node.func.id == "enumerate" and len(given) == 1:
        yield spot.replace(node, f"enumerate({given[0]}, 1)", "range", 1.8)
    elif node.func.id == "enumerate" and len(given) == 2:
        yield spot.replace(node, f"enumerate({given[0]})", "range", 1.8)


def comprehension(spot: Spot) -> Iterator[Edit]:
    """Its filter left out, or one added; `[x] * n` becomes one that makes each anew."""
    node = spot.node
    if isinstance(node, ast.comprehension):
        for item in node.ifs:
            start = spot.source.text.rfind("if", 0, spot.source.span(item)[0])
            end = spot.source.span(item)[1]
            yield spot.span(start, end, "", "filter left out", 2.6)
        if not node.ifs:
            end = spot.source.span(node.iter)[1]
            targets = [item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)]
            for name in targets:
                for sign in ("", "not "):
                    added = f" if {sign}{name}"
                    yield spot.span(end, end, added, "filter", 2.5 if not sign else 2.9)
                yield spot.span(end, end, f" if {name} is not None", "filter", 3.0)
            for text in spot.scope.conditions[:6]:
                yield spot.span(end, end, f" if {text}", "filter", 3.2)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for many, count in ((node.left, node.right), (node.right, node.left)):
            if isinstance(many, ast.List) and len(many.elts) == 1:
                element = spot.text(many.elts[0])
                text = f"[{element} for _ in range({spot.text(count)})]"
                yield spot.replace(node, text, "one list for each", 1.5)
