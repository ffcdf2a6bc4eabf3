"""Smaller variants of an expression or a function: fewer items, shorter texts, smaller numbers."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, TypeVar

from greenloop.syntax.nodes import Function
from greenloop.testsuite.variants.trees import copy_tree, iterate_slots

_N = TypeVar("_N", bound=ast.AST)


def iterate_smaller(tree: _N) -> Iterator[_N]:
    """Yield copies with one change that makes them smaller, large steps first."""
    if isinstance(tree, Function):
        yield from _without_statements(tree)
    steps: list[tuple[int, int, Any]] = []
    for number, slot in enumerate(iterate_slots(tree)):
        steps += [(step, number, new) for step, new in enumerate(_shrink(slot.read()))]
    for _, number, new in sorted(steps, key=lambda item: item[:2]):
        changed = copy_tree(tree)
        list(iterate_slots(changed))[number].write(copy_tree(new))
        yield changed


def _without_statements(tree: Any) -> Iterator[Any]:
    for at in range(len(tree.body) - 1, -1, -1):
        if len(tree.body) > 1:
            changed = copy_tree(tree)
            del changed.body[at]
            yield changed


def measure_size(tree: ast.AST) -> tuple[int, str]:
    """Return what smaller variants have less of: the length of the source, then the source."""
    text = ast.unparse(tree)
    return len(text), text


def _shrink(node: Any) -> Iterator[ast.expr]:
    """Yield smaller literals of the same type."""
    if isinstance(node, ast.Constant):
        yield from (ast.Constant(item) for item in _shrink_scalar(node.value))
    elif isinstance(node, ast.Dict):
        for keep in _shorter(len(node.keys)):
            yield ast.Dict([node.keys[at] for at in keep], [node.values[at] for at in keep])
    elif not isinstance(node, ast.Tuple):
        for keep in _shorter(len(node.elts)):
            if keep or isinstance(node, ast.List):
                changed = copy.copy(node)
                changed.elts = [node.elts[at] for at in keep]
                yield changed


def _shrink_scalar(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        near = value - 1 if value > 0 else value + 1
        yield from (item for item in (0, 1, value // 2, near) if abs(item) < abs(value))
    elif isinstance(value, float):
        yield from (item for item in (0.0, 1.0) if abs(item) < abs(value))
    elif isinstance(value, (str, bytes)):
        for keep in _shorter(len(value)):
            parts = [value[at : at + 1] for at in keep]
            yield "".join(parts) if isinstance(value, str) else b"".join(parts)  # type: ignore[arg-type]


def _shorter(length: int) -> Iterator[list[int]]:
    """Yield the positions that are kept: none, each half, and all but one."""
    places = list(range(length))
    if length:
        yield []
    if length > 2:
        yield from (places[: length // 2], places[length // 2 :])
    if 1 < length <= 24:
        yield from ([*places[:at], *places[at + 1 :]] for at in places)
