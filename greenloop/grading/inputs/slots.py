"""Places of literals in a syntax tree, and smaller literals for them."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from greenloop.syntax.nodes import Function, copy_tree

_N = TypeVar("_N", bound=ast.AST)
_PROVIDED = frozenset({"see__", "attempt__", "raising__", "operate__"})
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


@dataclass(frozen=True)
class Slot:
    """A place in a tree: a field of a node, or an item of such a field."""

    node: Any
    field: str
    at: int | None = None

    def read(self) -> Any:
        value = getattr(self.node, self.field)
        return value if self.at is None else value[self.at]

    def write(self, value: ast.AST) -> None:
        if self.at is None:
            setattr(self.node, self.field, value)
        else:
            getattr(self.node, self.field)[self.at] = value


def iterate_slots(tree: ast.AST) -> Iterator[Slot]:
    """Yield the places of literals, outer ones first."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.JoinedStr, ast.MatchValue)) or is_observation(node):
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                yield from (Slot(node, field, at) for at, i in enumerate(value) if _is_literal(i))
            elif _is_literal(value):
                yield Slot(node, field)


def is_observation(node: ast.AST) -> bool:
    """Whether a node is a call such as `see__(1, ...)`, whose first argument is no input."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PROVIDED
    )


def _is_literal(node: object) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is not None and node.value is not ...
    return isinstance(node, _CONTAINERS) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def iterate_smaller(tree: _N) -> Iterator[_N]:
    """Yield copies with fewer items, shorter texts or smaller numbers, large steps first."""
    if isinstance(tree, Function) and len(tree.body) > 1:
        for at in range(len(tree.body) - 1, -1, -1):
            changed = copy_tree(tree)
            del changed.body[at]
            yield changed
    steps: list[tuple[int, int, Any]] = []
    for number, slot in enumerate(iterate_slots(tree)):
        steps += [(step, number, new) for step, new in enumerate(_shrink(slot.read()))]
    for _, number, new in sorted(steps, key=lambda item: item[:2]):
        smaller = copy_tree(tree)
        list(iterate_slots(smaller))[number].write(copy_tree(new))
        yield smaller


def _shrink(node: Any) -> Iterator[ast.expr]:
    """Yield smaller literals of the same type."""
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() | float() as value):
            near = value - 1 if value > 0 else value + 1
            made = (0, 1, value // 2, near) if isinstance(value, int) else (0.0, 1.0)
            yield from (ast.Constant(item) for item in made if abs(item) < abs(value))
        case ast.Constant(value=str() | bytes() as text):
            parts: list[Any] = [text[at : at + 1] for at in range(len(text))]
            yield from (ast.Constant(text[:0].join(kept)) for kept in _shorten(parts))
        case ast.Dict(keys=keys, values=values):
            for kept in _shorten([*zip(keys, values, strict=True)]):
                yield ast.Dict([key for key, _ in kept], [value for _, value in kept])
        case ast.List(elts=items) | ast.Set(elts=items):
            for kept in _shorten(items):
                if kept or isinstance(node, ast.List):
                    changed = copy.copy(node)
                    changed.elts = kept
                    yield changed


def _shorten(items: list[Any]) -> Iterator[list[Any]]:
    """Yield no items, each half of them, and all items but one."""
    if items:
        yield []
    if len(items) > 2:
        yield from (items[: len(items) // 2], items[len(items) // 2 :])
    if 1 < len(items) <= 24:
        yield from ([*items[:at], *items[at + 1 :]] for at in range(len(items)))
