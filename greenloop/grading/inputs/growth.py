"""Inputs of growing size, which show the cost of two programs."""

import ast
from collections.abc import Iterable, Iterator
from itertools import product

from greenloop.grading.inputs.literals import split_words
from greenloop.syntax.nodes import copy_tree

_MIN_SIZE, _MAX_SIZE, _MAX_FUNCTIONS = 4, 300, 6
_LARGE = (2**31, 2**53 + 3, 12345678901234567891, -(2**53) - 3)  # over 32 bits or no exact float
_DEEP_SIZE = 1001  # code that recurses once for each item reaches the recursion limit of 1000


def grow_calls(calls: Iterable[ast.Call]) -> Iterator[ast.Call]:
    """Yield calls with one argument of growing size, from the first call of each function."""
    for item in _list_first(calls):
        yield from _grow(item)


def _list_first(calls: Iterable[ast.Call]) -> list[ast.Call]:
    """Return the first call of each function."""
    first: dict[str, ast.Call] = {}
    for item in calls:
        first.setdefault(ast.unparse(item.func), item)
    return list(first.values())[:_MAX_FUNCTIONS]


def _grow(call: ast.Call) -> Iterator[ast.Call]:
    for at, size in product(range(len(call.args)), (*_iterate_sizes(), _DEEP_SIZE)):
        # Texts and lists get the next size too, as odd and even sizes may differ.
        for number in (size, size + 1)[: 2 - _is_integer(call.args[at])]:
            if grown := resize(call.args[at], number):
                yield _replace_argument(call, at, grown)


def _iterate_sizes() -> Iterator[int]:
    size = _MIN_SIZE
    while size <= _MAX_SIZE:
        yield size
        size = size * 3 // 2


def enlarge_calls(calls: Iterable[ast.Call]) -> Iterator[ast.Call]:
    """Yield the first call of each function with one integer replaced by very large ones."""
    for item in _list_first(calls):
        for at, number in product(range(len(item.args)), _LARGE):
            if _is_integer(item.args[at]):
                yield _replace_argument(item, at, ast.Constant(number))


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _replace_argument(call: ast.Call, at: int, node: ast.expr) -> ast.Call:
    changed = copy_tree(call)
    changed.args[at] = node
    return changed


def is_deep(call: ast.AST) -> bool:
    """Whether an argument is so large that the time does not show how the cost grows."""
    values = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
    return any(
        (type(item) is int and (item == _DEEP_SIZE or abs(item) >= _LARGE[0]))
        or (isinstance(item, str) and len(item) >= _DEEP_SIZE)
        for item in values
    )


def resize(node: ast.expr, size: int) -> ast.expr | None:
    """Return the number `size`, or a text or list of this length; None for other or empty nodes."""
    if isinstance(node, ast.List) and node.elts:
        items = [_vary(node.elts[at % len(node.elts)], at) for at in range(size)]
        return ast.List(items, ast.Load())
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int:
        return ast.Constant(size)
    if isinstance(value, str) and value:
        return ast.Constant(_lengthen(value, size))
    return None


def cut_arguments(call: ast.AST) -> ast.Call | None:
    """Return a call with numbers, texts and lists of two thirds the size; None if none is cut."""
    if not isinstance(call, ast.Call):
        return None
    changed, is_cut = copy_tree(call), False
    for at, node in enumerate(changed.args):
        if isinstance(node, ast.List) and len(node.elts) >= _MIN_SIZE:
            node.elts, is_cut = node.elts[: len(node.elts) * 2 // 3], True
        elif isinstance(node, ast.Constant) and (cut := _cut_value(node.value)):
            changed.args[at], is_cut = cut, True
    return changed if is_cut else None


def _cut_value(value: object) -> ast.Constant | None:
    if type(value) is int and value >= 6:
        return ast.Constant(value - 2 * (value // 6))  # odd numbers stay odd, as they may cost more
    if isinstance(value, str) and len(value) >= _MIN_SIZE:
        return ast.Constant(value[: len(value) * 2 // 3])
    return None


def _lengthen(text: str, size: int) -> str:
    """Return the text repeated to `size` characters, or to `size` words if it has several."""
    words, between = split_words(text)
    if len(words) < 2:
        return (text * size)[:size]
    return between[0].join(words[at % len(words)] for at in range(size))


def _vary(node: ast.expr, at: int) -> ast.expr:
    is_number = isinstance(node, ast.Constant) and type(node.value) is int
    return ast.Constant(node.value + at) if is_number else copy_tree(node)  # type: ignore[attr-defined]
